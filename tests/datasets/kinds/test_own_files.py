"""Data in files of a user's own: pairs and labelled texts, prepared from small files."""

import json

import pytest

from workflow.datasets.io.dataset_files import SPLITS, read_splits
from workflow.datasets.kinds.own_files import RECORD, by_content, own_files
from workflow.datasets.kinds.recipe import complete, load
from workflow.planning.identity import recipe_hash
from workflow.runtime.errors import DataError, RecipeError, UserError

NUMBERS = [f"Nummer {n}" for n in range(300)]
TEXTS = [(f"a book, {n}", ("bad", "good")[n % 3 == 0]) for n in range(60)]


def write(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines))
    return str(path)


def sides(folder, name="my", count=300):
    """Two files of as many pairs."""
    folder.mkdir(exist_ok=True)
    english = [line.replace("Nummer", "number") for line in NUMBERS]
    both = {"de": NUMBERS, "en": english}
    return [write(folder / f"{name}.{side}", lines[:count]) for side, lines in both.items()]


def prepared(tmp_path, **data):
    """The folder that own data are prepared in."""
    out = tmp_path / "prepared"
    load(complete(by_content(data))).prepare(own_files(data), out)
    return out


def sentence(tmp_path, error, **data):
    """The one line with which data are refused; nothing but a half-made folder may stay."""
    with pytest.raises(error) as caught:
        prepared(tmp_path, **data)
    assert "\n" not in str(caught.value)
    return str(caught.value).replace(f"{tmp_path}/", "")


def test_a_tenth_of_the_pairs_is_held_out_for_each_split_without_files(tmp_path):
    out = prepared(tmp_path, dataset="pairs", train=sides(tmp_path))
    texts = {one: (out / f"{one}.source.txt").read_text().splitlines() for one in SPLITS}
    assert {it: len(lines) for it, lines in texts.items()} == {"train": 240, "dev": 30, "test": 30}
    assert sorted(line for lines in texts.values() for line in lines) == sorted(
        line.lower() for line in NUMBERS
    )
    assert texts["dev"] != sorted(texts["dev"], key=lambda line: line[-1])
    assert texts["test"][0].replace("nummer", "number") in (out / "test.target.txt").read_text()
    again = prepared(tmp_path / "again", dataset="pairs", train=sides(tmp_path))
    assert (again / "dev.source.txt").read_text().splitlines() == texts["dev"]


def test_splits_with_files_are_those_files(tmp_path):
    files = {split: sides(tmp_path, split, n) for split, n in zip(SPLITS, (9, 3, 2), strict=True)}
    out = prepared(tmp_path, dataset="pairs", **files)
    for split, count in zip(SPLITS, (9, 3, 2), strict=True):
        assert len((out / f"{split}.source.txt").read_text().splitlines()) == count
    assert len(json.loads((out / RECORD).read_text())) == 6


def test_a_recipe_is_of_contents_and_not_of_places(tmp_path):
    here, there = sides(tmp_path / "here"), sides(tmp_path / "there")
    first, second = (
        complete(by_content({"dataset": "pairs", "train": one})) for one in (here, there)
    )
    assert first == second and str(tmp_path) not in json.dumps(first)
    assert first["direction"] == "de_en"
    sides(tmp_path / "there", count=299)
    other = complete(by_content({"dataset": "pairs", "train": there}))
    assert recipe_hash(other) != recipe_hash(first)
    assert by_content({"dataset": "multi30k", "train": 3}) == {"dataset": "multi30k", "train": 3}


FORMS = {
    "csv": ["review,verdict", *(f'"{text}",{label}' for text, label in TEXTS)],
    "tsv": ["review\tverdict", *(f"{text}\t{label}" for text, label in TEXTS)],
    "jsonl": [json.dumps({"review": text, "verdict": label}) for text, label in TEXTS],
}
COLUMNS = {"dataset": "labelled", "text": "review", "label": "verdict"}


def test_each_form_of_labelled_texts_is_read_alike(tmp_path):
    found = []
    for form, lines in FORMS.items():
        file = write(tmp_path / f"films.{form}", lines)
        records = read_splits(prepared(tmp_path / form, train=file, **COLUMNS))
        assert {it: len(records[it]) for it in SPLITS} == {"train": 48, "dev": 6, "test": 6}
        assert [sum(one["label"] for one in records[split]) for split in SPLITS] == [16, 2, 2]
        found.append(records)
    assert found[0] == found[1] == found[2]
    assert {"text": "a book 0", "label": 1} in [one for rows in found[0].values() for one in rows]


def test_whole_numbers_are_labels_in_their_order(tmp_path):
    rows = [f"text {n},{(2, 10)[n % 2]}" for n in range(40)]
    file = write(tmp_path / "films.csv", ["text,label", *rows])
    records = read_splits(prepared(tmp_path, dataset="labelled", train=file))
    assert {(int(it["text"][5:]) % 2, it["label"]) for it in records["train"]} == {(0, 0), (1, 1)}


def test_own_pairs_that_are_wrong_are_refused_in_a_sentence(tmp_path):
    train = sides(tmp_path)
    assert sentence(tmp_path, RecipeError, dataset="pairs", train=["no.de", train[1]]) == (
        "train: no.de is no file; give its path, absolute or from the folder of the YAML file that "
        "names it."
    )
    (tmp_path / "loop.de").symlink_to("loop.de")
    looped = sentence(
        tmp_path, RecipeError, dataset="pairs", train=[str(tmp_path / "loop.de"), train[1]]
    )
    assert looped == (
        "train: loop.de: this link leads back to itself (a loop of links); put the file in its "
        "place."
    )
    assert "`train`: the files" in sentence(tmp_path, RecipeError, dataset="pairs")
    said = sentence(tmp_path, RecipeError, dataset="pairs", train=train[:1])
    assert "names 1 files; name two" in said
    texts = [write(tmp_path / f"{name}.txt", [*NUMBERS, name]) for name in "ab"]
    assert "`direction`" in sentence(tmp_path, RecipeError, dataset="pairs", train=texts)
    short = write(tmp_path / "short.en", NUMBERS[:7])
    assert sentence(tmp_path, DataError, dataset="pairs", train=[train[0], short]) == (
        "my.de has 300 lines and short.en has 7; data.train needs a translation for each sentence, "
        "on the line of the same number."
    )
    blank = [write(tmp_path / f"blank.{it}", ["", end]) for it, end in (("de", ""), ("en", " "))]
    assert sentence(tmp_path, DataError, dataset="pairs", train=train, dev=blank) == (
        "blank.de, blank.en: no example is left for data.dev; add some."
    )
    few = sides(tmp_path, "few", 2)
    assert "few.de: 2 examples of data.train are too few to hold out dev and test" in sentence(
        tmp_path, DataError, dataset="pairs", train=few
    )


def test_own_labelled_texts_that_are_wrong_are_refused_in_a_sentence(tmp_path):
    file = write(tmp_path / "films.csv", FORMS["csv"])
    given = {**COLUMNS, "train": file}
    assert sentence(tmp_path, UserError, **{**given, "text": "reviw"}).startswith(
        'films.csv: data.text: unknown column "reviw"'
    )
    assert sentence(tmp_path, RecipeError, **given, dev=file).startswith(
        "dev: has the texts of train, films.csv; name other files"
    )
    spaced = write(tmp_path / "spaced.csv", [*FORMS["csv"], "a book,good "])
    assert sentence(tmp_path, DataError, **{**given, "train": spaced}) == (
        "spaced.csv: the labels 'good' and 'good ' of data.train look alike, or are one number; "
        "write both in the same way."
    )
    new = write(tmp_path / "test.csv", ["review,verdict", "a book,ugly", "a book,good"])
    assert sentence(tmp_path, DataError, **given, test=new) == (
        "test.csv: data.test has the label 'ugly', which no text of data.train has; add such texts "
        "there, or take it away."
    )
    empty = write(tmp_path / "empty.csv", ["review,verdict"])
    assert sentence(tmp_path, DataError, **given, dev=empty) == (
        "empty.csv: no example is left for data.dev; add some."
    )
    odd = write(tmp_path / "odd.csv", ["review,verdict", "a,b,c,d"])
    assert "odd.csv: data.dev can't be read as csv (line 2 has not" in sentence(
        tmp_path, DataError, **given, dev=odd
    )
    text = write(tmp_path / "films.txt", FORMS["csv"])
    assert "`labelled`: format" in sentence(tmp_path, RecipeError, **{**COLUMNS, "train": text})


def test_files_of_one_form_make_one_set(tmp_path):
    files = [
        write(tmp_path / "one.csv", FORMS["csv"]),
        write(tmp_path / "TWO.CSV", FORMS["csv"][:9]),
    ]
    records = read_splits(prepared(tmp_path, train=files, **COLUMNS))
    assert sum(map(len, records.values())) == 68


HEAD, *ROWS = FORMS["csv"]
OBJECT = {"review": "a book", "verdict": "good"}


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", "review,verdict,review\nx,good,y\n", "two columns have the name 'review'"),
        ("a.csv", "review,verdict\nx,good\ny, \n", "row 2 of data.train has no verdict; add it"),
        ("a.csv", "review,verdict\nx,good\ny,good\n", "all texts of data.train have the label"),
        ("a.csv", "review,verdict\nx,1\ny,1.0\n", "the labels '1' and '1.0' of data.train look"),
        ("a.csv", "review,verdict\nx,\u00e9\ny,e\u0301\n", "the labels 'e\\u0301' and '\\xe9' of"),
        ("a.csv", "review,verdict\nx,a\ny,a\u200b\n", "the labels 'a' and 'a\\u200b' of data"),
        ("a.csv", 'review,verdict\n"open,good\n', "(unexpected end of data); mend the file"),
        ("a.csv", "review,verdict\nx,pr\u00eat\n".encode("latin-1"), "not UTF-8; save the file as"),
        ("a.csv", "review,verdict\nx,good\n".encode("utf-16"), "is in UTF-16; save it as UTF-8"),
        ("a.csv", b"PK\x03\x04" + bytes(99), "in a zip archive or a document of Office; unpack it"),
        ("a.jsonl", json.dumps(OBJECT | {"review": ["a"]}), "review is of the type list; write a"),
        ("a.jsonl", json.dumps(OBJECT | {"review": 5}), "review is of the type int; write a text"),
        ("a.jsonl", json.dumps(OBJECT | {"verdict": {}}), "verdict is of the type dict; write"),
        (
            "a.jsonl",
            '{"review": "a", "verdict": NaN}',
            "row 1 of data.train has no verdict; add it",
        ),
    ],
)
def test_what_would_be_used_as_nobody_meant_it_is_refused(tmp_path, name, content, said):
    file = tmp_path / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    found = sentence(tmp_path, UserError, train=str(file), **COLUMNS)
    assert said in found and found.startswith(f"{name}: ")


def test_a_text_may_be_a_book(tmp_path):
    file = write(tmp_path / "a.csv", [HEAD, f"{'long ' * 40_000},good", *ROWS])
    assert len(read_splits(prepared(tmp_path, train=file, **COLUMNS))["train"]) > 40


def test_a_file_or_column_named_twice_is_refused(tmp_path):
    train = sides(tmp_path)
    said = sentence(tmp_path, RecipeError, dataset="pairs", train=[train[0]] * 2)
    assert said == "train: my.de has the contents of my.de; name each once."
    file = write(tmp_path / "films.csv", FORMS["csv"])
    columns = {**COLUMNS, "label": "review"}
    assert "both name the column 'review'; name one for each" in sentence(
        tmp_path, RecipeError, train=file, **columns
    )


def test_parquet_without_pyarrow_is_refused_in_a_sentence(tmp_path, monkeypatch):
    import pandas as pd

    def missing(path):
        raise ImportError

    monkeypatch.setattr(pd, "read_parquet", missing)
    file = write(tmp_path / "films.parquet", [])
    assert "films.parquet: to read Parquet (data.format) pandas needs pyarrow" in sentence(
        tmp_path, DataError, train=file, **COLUMNS
    )
    frame = pd.DataFrame(TEXTS, columns=["review", "verdict"])
    monkeypatch.setattr(pd, "read_parquet", lambda path: frame)
    assert len(read_splits(prepared(tmp_path, train=file, **COLUMNS))["train"]) == 48


def test_a_file_that_changes_between_plan_and_job_is_refused(tmp_path):
    data = {"dataset": "pairs", "train": sides(tmp_path)}
    planned = load(complete(by_content(data)))
    sides(tmp_path, count=299)
    with pytest.raises(DataError, match=r"my\.de: this file of data\.train is gone or has changed"):
        planned.prepare(own_files(data), tmp_path / "prepared")
