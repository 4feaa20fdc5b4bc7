"""Tables made from the data alone: facts, verdicts, files, and publishing without the data."""

import gzip
from pathlib import Path

import pytest
import yaml

from tests.sealing import put
from workflow.datasets.fetched import origins
from workflow.datasets.kinds.recipe import complete, load
from workflow.definitions.expected import COLUMNS, Expected, Printed
from workflow.definitions.paper import Paper
from workflow.files import read_csv, read_json
from workflow.reporting.tables.corpus_tables import describe, facts_of, judge

MANIFEST = {
    "digest": "d" * 64,
    "splits": {
        "train": {"examples": 120, "tokens": 2400},
        "dev": {"examples": 30, "tokens": 600},
        "test": {"examples": 30, "tokens": 400},
    },
    "vocabulary_size": 1234567,
    "statistics": {
        "median_length": {"train": 20.5, "dev": 20, "test": 13},
        "duplicates": {"train": 3, "dev": 0, "test": 1},
        "unknown_tokens": {"dev": 12, "test": 18},
    },
    "files": {},
}
TABLE = {
    "title": "Corpora",
    "caption": "Corpora.",
    "source": "snell2021",
    "printed": {"source": "snell2021", "table": "T"},
    "columns": [
        *("train", "dev", "test", "train_length", "dev_length", "test_length"),
        *("vocabulary", "duplicates", "unknown", "form"),
    ],
    "rows": [
        {"id": "a", "label": "A", "data": {"dataset": "sst"}, "note": "Why it differs."},
        {"id": "b", "label": "B", "data": {"dataset": "yelp"}},
    ],
    "differs": [{"rows": ["a"], "columns": ["dev"], "because": "They drew others."}],
    "notes": ["All of them."],
}
NUMBERS = """snell2021,T,A,train #,train #,120,,single,count,,
snell2021,T,A,val #,val #,31,,single,count,,
snell2021,T,A,median train seq len,median train seq len,20.5,,single,count,,
snell2021,T,A,vocab size,vocab size,1234567,,single,count,misprint,
snell2021,T,B,train #,train #,88821,,single,count,,
"""
SIDES = ("source", "target")
RECIPE = {"dataset": "sst", "source": "official", "classes": "fine"}
FACTS = {
    "a": {"recipe": RECIPE, "form": "official", **MANIFEST},
    "b": {"recipe": {"dataset": "yelp"}, "missing": "get it by hand"},
}


@pytest.fixture
def paper(tmp_path: Path) -> Paper:
    """A paper with one table of corpora."""
    folder = tmp_path / "papers" / "paper"
    folder.mkdir(parents=True)
    subset = {"when": {"dataset": "sst", "source": "subset"}, "because": "only a part"}
    content = {"not_comparable": [subset], "tables": {"corpora": TABLE}}
    (folder / "corpora.yaml").write_text(yaml.safe_dump(content))
    (folder / "expected.csv").write_text(",".join(COLUMNS) + "\n" + NUMBERS)
    return Paper("paper", tmp_path / "papers")


def cells(paper: Paper, tmp_path: Path, scale: str = "lite", **facts: object) -> dict:
    """Describe the corpora and return the records by row and column."""
    describe(paper, "corpora", scale, FACTS | facts, tmp_path / "out/paper/corpora")
    records = read_csv(tmp_path / "out/paper/corpora.csv")
    return {(record["row"], record["column"]): record for record in records}


def test_values_and_verdicts(paper: Paper, tmp_path: Path) -> None:
    found = cells(paper, tmp_path)
    shown = {column: record["mean"] for (row, column), record in found.items() if row == "A"}
    assert shown == {
        "train #": "120",
        "val #": "30",
        "test #": "30",
        "median train seq len": "20.5",
        "median val seq len": "20",
        "median test seq len": "13",
        "vocab size": "1234567",
        "repeated train / val / test": "3 / 0 / 1",
        "unknown (%)": "3",
        "source": "official",
    }
    assert [found["A", f"{split} #"]["unit"] for split in ("train", "val", "test")] == ["texts"] * 3
    verdicts = {column: it["verdict"] for (row, column), it in found.items() if row == "A"}
    assert verdicts.pop("train #") == verdicts.pop("median train seq len") == "reproduced"
    assert verdicts.pop("val #") == "differs"
    assert set(verdicts.values()) == {"not comparable"}
    assert found["A", "val #"]["note"] == "difference -1; They drew others.; Why it differs."
    assert "misprint" in found["A", "vocab size"]["note"]
    assert {it["verdict"] for (row, _), it in found.items() if row == "B"} == {"not run"}
    assert found["B", "train #"]["expected"] == "88821"
    assert found["B", "train #"]["note"] == "get it by hand"


@pytest.mark.parametrize(
    ("scale", "source", "because"),
    [
        ("demo", "official", "the demo scale is too small to compare"),
        ("lite+mine", "official", "the overlay 'mine' changes the settings"),
        ("lite", "subset", "only a part"),
    ],
)
def test_what_cannot_be_compared(
    paper: Paper, tmp_path: Path, scale: str, source: str, because: str
) -> None:
    facts = {**FACTS["a"], "recipe": {**RECIPE, "source": source}}
    record = cells(paper, tmp_path, scale, a=facts)["A", "train #"]
    assert record["verdict"] == "not comparable" and because in record["note"]


def test_a_fact_is_equal_or_it_is_not() -> None:
    printed = Expected("snell2021", Printed("120"), "count", "", "")
    assert judge(120, "", printed, []).word == judge(120.0, "", printed, []).word == "reproduced"
    assert judge(120.5, "", printed, []).word == judge(121, "", printed, []).word == "differs"
    assert judge(None, "", printed, []).word == judge("120", "", printed, []).word
    assert judge("120", "", printed, []).word == "not comparable"


def test_the_layouts_show_notes_and_what_is_missing(paper: Paper, tmp_path: Path) -> None:
    cells(paper, tmp_path)
    text = (tmp_path / "out/paper/corpora.md").read_text()
    for line in (
        "|  | A | paper | mark |",
        "| train # | 120 | 120 | ✓ |",
        "| val # | 30 | 31 | ✗ |",
    ):
        assert f"\n{line}\n" in text
    assert "| B |" not in text
    legend = (
        "paper: what it prints, with ours on the left · ✓ reproduced · ✗ differs · "
        "– no verdict: not comparable"
    )
    notes = (
        "- Differs (A, val #): They drew others.\n- All of them.\n"
        "- A: Why it differs.\n- B: not run: get it by hand.\n"
    )
    assert f"|\n\n{legend}\n\n{notes}" in text
    latex = (tmp_path / "out/paper/corpora.tex").read_text()
    assert r"120$^{\checkmark}$" in latex and r"30$^{\times}$" in latex and "val / test" in latex
    assert "88821" in (tmp_path / "out/paper/corpora.csv").read_text()
    sidecar = read_json(tmp_path / "out/paper/corpora.json")
    assert sidecar["corpora"]["a"]["digest"] == "d" * 64
    assert {cell["corpus"] for cell in sidecar["cells"]} == {"d" * 64, None}


def test_parallel_corpora(paper: Paper, tmp_path: Path) -> None:
    """Of pairs medians are told by side, a vocabulary too where each side has one."""
    recipe = {
        "dataset": "multi30k",
        "source": "generated",
        "seed": 0,
        "merges": 30,
        "train": 40,
        "dev": 5,
        "test": 5,
    }
    facts, manifests = {}, {}
    for row, joint in (("a", True), ("b", False)):
        folder, options = tmp_path / row, {**recipe, "joint": joint}
        dataset = load(options)
        dataset.synthesise(folder / "raw")
        file = folder / "raw" / "train.de.gz"
        lines = gzip.decompress(file.read_bytes()).split(b"\n")
        file.write_bytes(gzip.compress(b"\n".join([b"", b"x " * 10_000, *lines[2:]])))
        dataset.prepare(list((folder / "raw").iterdir()), folder / "prepared")
        dataset.encode(folder / "prepared", folder / "encoded")
        facts[row] = facts_of(complete(options), folder / "encoded", tmp_path)
        manifests[row] = read_json(folder / "encoded" / "manifest.json")
    columns = ["train", "train_length", "vocabulary", "dropped", "duplicates", "unknown", "form"]
    columns += [f"{split}_{side}_length" for split in ("train", "dev") for side in SIDES]
    paper.corpora["tables"]["corpora"]["columns"] = columns
    found = cells(paper, tmp_path, **facts)
    median, sizes = manifests["a"]["statistics"]["median_length"], manifests["b"]
    expected = {
        ("A", "train #"): "38",
        ("A", "median train seq len"): "{source:g} / {target:g}".format(**median["train"]),
        **{
            ("A", f"median {name} seq len, {side}"): f"{median[split][side]:g}"
            for split, name in (("train", "train"), ("dev", "val"))
            for side in SIDES
        },
        ("A", "vocab size"): str(manifests["a"]["vocabulary_size"]),
        ("B", "vocab size"): (
            f"{sizes['vocabulary_sizes']['source']} / {sizes['vocabulary_sizes']['target']}"
        ),
        ("A", "left out of train"): "1 an empty side; 1 more than 175 words",
        ("A", "source"): "generated",
    }
    assert {cell: found[cell]["mean"] for cell in expected} == expected
    assert {record["verdict"] for record in found.values()} <= {"not comparable", "differs"}
    units = {column: record["unit"] for (row, column), record in found.items() if row == "A"}
    assert [column for column, unit in units.items() if unit == "pairs"] == [
        *("train #", "left out of train", "repeated train / val / test"),
    ]
    text = (tmp_path / "out/paper/corpora.md").read_text()
    assert "1 an empty side; 1 more than 175 words" in text


def test_facts_say_where_the_files_came_from(tmp_path: Path) -> None:
    encoded, fetched = tmp_path / "encoded", tmp_path / "fetched"
    put(encoded / "manifest.json", MANIFEST)
    fetched.mkdir()
    for kind, form in (("mirror", "official"), ("bundle", "official, bundle")):
        origins.write(fetched / "aclImdb_v1.tar.gz", origins.Origin(kind, "0" * 64, 1, ""))
        facts = facts_of({"dataset": "imdb", "source": "official"}, encoded, fetched)
        assert facts["form"] == form
        assert facts["splits"] == MANIFEST["splits"] and "files" not in facts
    made = {"dataset": "stack_language"}
    assert facts_of(made, encoded, fetched)["form"] == "generated"
