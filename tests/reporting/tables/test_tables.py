"""Tables: the long form by hand-computed statistics, and the layouts by reading them back."""

import csv
import re
import statistics
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.reporting.synthetic import (
    FLOORS,
    STACK,
    Results,
    checked,
    laid_out,
    lines,
    one_run,
    printing,
    scalar,
    shown,
    toy,
    toy_table,
)
from tests.sealing import flip, put
from workflow.commands.latex import latex_of
from workflow.definitions.cells import table_runs
from workflow.definitions.paper import Paper
from workflow.files import read_sidecar, write_sidecar
from workflow.reporting.cells import IDENTITY, LongForm, frame, record, records
from workflow.reporting.measures import EvaluatedRun, Measures
from workflow.reporting.overlaid import on_other_data, overlaid
from workflow.reporting.publication.counting import comparisons
from workflow.reporting.tables import markdown as written
from workflow.reporting.tables.layout import NO_ROW
from workflow.reporting.tables.tabulating import tabulate
from workflow.runtime.errors import ReportingError
from workflow.runtime.integrity import read_verified
from workflow.scripts.measure import plain


def rows(prefix: Path) -> list[dict[str, str]]:
    with prefix.with_suffix(".csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def pick(records: list[dict[str, str]], **wanted: str) -> list[dict[str, str]]:
    return [one for one in records if all(one[key] == value for key, value in wanted.items())]


def soft(prefix: Path, metric: str) -> list[dict[str, str]]:
    """Return a metric's lines of SST's soft model."""
    return pick(rows(prefix), row="gradient norm: SST", column="TRANSFORMER", metric=metric)


def markdown(prefix: Path) -> list[list[list[str]]]:
    """Read the tables of a Markdown file back, each with its header and rows."""
    parts = prefix.with_suffix(".md").read_text().split("\n\n")
    tables = [part.splitlines() for part in parts if part[:1] == "|"]
    return [
        [[cell.strip() for cell in line.split("|")[1:-1]] for line in (head, *lines)]
        for head, _, *lines in tables
    ]


def beside(prefix: Path, *labels: str) -> list[str]:
    """Return what stands beside labels in a Markdown file."""
    lines = (line for table in markdown(prefix) for line in table)
    return next(line[len(labels) :] for line in lines if line[: len(labels)] == [*labels])


@pytest.fixture(scope="module")
def made(paper: Paper, measures: Measures, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    for name in paper.tables["tables"]:
        tabulate(paper, name, "lite", measures, folder / name)
    return folder


def test_statistics_over_runs(made: Path, measures: Measures) -> None:
    behind = measures.of("stack_language", "uniform_discrete_penalty")
    values = [one.number("receptive_field.precision") for one in behind]
    stack = rows(made / "stack_language")
    found = pick(stack, row="uniform: discrete + penalty", metric="precision")
    assert [one["source"] for one in found] == ["kinley2020", "discrete2020"]
    for one in found:
        assert float(one["mean"]) == pytest.approx(statistics.mean(values), rel=1e-5)
        assert float(one["std"]) == pytest.approx(statistics.stdev(values), rel=1e-4)
        # Student's t with two degrees of freedom: 4.3027
        half = 4.3027 * statistics.stdev(values) / 3**0.5
        assert float(one["ci_high"]) - float(one["mean"]) == pytest.approx(half, rel=1e-3)
        assert (one["n"], one["spread_over"], one["statistic"]) == ("3", "runs", "mean")
        assert (one["expected"], one["verdict"]) == ("0.959", "reproduced")


def test_spread_over_examples_stays_apart_from_that_of_runs(made: Path, measures: Measures) -> None:
    behind = measures.of("text_classification", "sst_soft")
    scalars = [one.scalar("attention_importance.tau_norm") for one in behind]
    examples, runs = soft(made / "table_6_1", "tau_norm")
    assert (examples["spread_over"], runs["spread_over"]) == ("examples", "runs")
    pooled = np.sqrt(np.mean([scalar.std**2 for scalar in scalars]))
    assert float(examples["std"]) == pytest.approx(pooled, rel=1e-4)
    assert (examples["n"], examples["expected_std"]) == ("1820", "0.11")
    assert float(runs["std"]) == pytest.approx(
        statistics.stdev(scalar.value for scalar in scalars), rel=1e-4
    )
    assert (runs["n"], runs["expected"], runs["verdict"]) == ("3", "", "not comparable")


def test_cells_that_were_not_run_say_so(made: Path) -> None:
    found = pick(rows(made / "table_6_1"), row="gradient norm: IMDB", column="DISC TRANSF")
    assert {one["metric"] for one in found} == {"tau_norm", "accuracy"}
    for one in found:
        assert one["verdict"] == "not run"
        assert one["expected"] and not one["mean"] and not one["n"]
        assert one["note"].startswith("no run of this cell")


def test_stack_language_reads_back_from_markdown(made: Path) -> None:
    """It is wide: it has parts, each with all rows, and no column that nothing was run of."""
    tables = markdown(made / "stack_language")
    for head, *body in tables:
        assert head[:2] == ["Grammar", "Model"]
        half = "half of the symbols digits"
        groups = ["uniform", *[""] * 5, half, *[""] * 3]  # two temperatures too
        assert [line[0] for line in body] == groups
        assert [line[1] for line in body[:4]] == [kind.replace("_", " + ") for kind in STACK]
    heads = [name for head, *_ in tables for name in head[2:]]
    first = ["NLL (nats/token)", "floor", "precision, micro", "paper", "mark"]
    assert heads[:5] == first
    (at,) = (n for n, (head, *_) in enumerate(tables) if "precision, micro" in head)
    head, soft, *_ = tables[at]
    best = dict(zip(head[2:], tables[at][4][2:], strict=True))
    assert re.fullmatch(r"0\.\d{3}±0\.\d{3}", best["precision, micro"])
    assert (best["paper"], best["mark"]) == ("0.959", "✓")
    assert soft[3] == f"{FLOORS['uniform']:.3f}" and "weighted precision" in heads


def test_table_6_1_reads_back_from_markdown(made: Path) -> None:
    """It is wide: each model has a row, and each metric a column."""
    ((head, *body),) = markdown(made / "table_6_1")
    assert head == ["Importance", "Dataset", "", "τ", "paper", "mark", "accuracy", "paper", "mark"]
    assert [line[:3] for line in body if line[2] == "TRANSFORMER"] == [
        ["gradient norm", "SST", "TRANSFORMER"],
        ["gradient times input", "SST", "TRANSFORMER"],
    ]
    assert re.fullmatch(
        r"0\.\d\d±0\.\d\d 0\.69±0\.11 [✓~✗] \d\d\.\d±\d\.\d 79\.6 [✓~✗]", " ".join(body[0][3:])
    )
    absent = [
        "Not run (gradient norm): IMDB; 20 News; AG News.",
        "Not run (gradient norm, untrained): SST; IMDB; 20 News; AG News.",
        "Not run (gradient times input): IMDB; 20 News; AG News.",
    ]
    for suffix in (".md", ".tex"):
        text = (made / "table_6_1").with_suffix(suffix).read_text()
        assert f"{' '.join(absent)} What the paper prints there stands in the CSV." in text


def definitions_of_one(metric: dict[str, Any], **more: object) -> dict[str, Any]:
    """Return the definitions of a table of one metric, with one row and column if not others."""
    columns = [{"id": "c", "label": "c", "metrics": ["m"]}]
    given = {"columns": columns, "rows": [{"id": "r", "label": "r"}], "labels": [""], **more}
    return toy_table({"m": {"measure": "probe.m", "label": "m", **metric}}, **given)


def test_a_table_of_which_nothing_was_run_is_a_line(paper: Paper, tmp_path: Path) -> None:
    tabulate(paper, "table_6_1", "lite", Measures([]), tmp_path / "t")
    text = (tmp_path / "t.md").read_text()
    assert NO_ROW in text and "|" not in text.partition(NO_ROW)[0] and "Not run" not in text
    assert NO_ROW in (tmp_path / "t.tex").read_text()
    assert any(record["expected"] for record in rows(tmp_path / "t"))


@pytest.mark.parametrize(("seed_std", "text"), [(0, "5.97"), (1, "5.97±0.00")])
def test_what_no_training_changes_has_no_deviation(seed_std: int, text: str) -> None:
    made = definitions_of_one({"tolerance": {"seed_std": seed_std}, "digits": 2})
    table = toy(made, [one_run("r", seed, {"m": 5.97}) for seed in (0, 1)])
    assert lines(table)[0]["std"] == "0"
    assert shown(made, table)[0][1] == text


def test_latex_is_made_of_the_csv(made: Path, tmp_path: Path) -> None:
    for path in (made / "stack_language.csv", made / "table_6_1.csv"):
        assert latex_of(path) == path.with_suffix(".tex").read_text().rstrip("\n")
    own = tmp_path / "table_6_1.csv"
    own.write_text(path.read_text().replace("gradient norm: SST", "my own"))
    told = {**read_verified(path.with_suffix(".json")), "files": {}}
    put(own.with_suffix(".json"), told)
    with pytest.raises(ReportingError, match=r"table_6_1\.csv: my own is none of discrete_tra"):
        latex_of(own)


def test_sidecar_names_the_runs_behind_every_cell(made: Path, lite: Results) -> None:
    for name in ("stack_language", "table_6_1"):
        sidecar = read_sidecar(made / f"{name}.csv")
        records = rows(made / name)
        assert sidecar["schema"] == 1
        assert [[cell[name] for name in IDENTITY] for cell in sidecar["cells"]] == [
            [line[name] for name in IDENTITY] for line in records
        ]
        for cell, line in zip(sidecar["cells"], records, strict=True):
            assert len(cell["measures"]) == len(cell["runs"]) == len(cell["seeds"])
            assert bool(cell["runs"]) == (line["verdict"] != "not run")
            for identity, measure in zip(cell["runs"], cell["measures"], strict=True):
                assert read_verified(Path(measure))["identity"] == identity
                run = sidecar["runs"][identity]
                assert run["commit"] and run["cpu"] and run["scale"] == "lite"
                assert run["data"] == "d" * 64 and "cuda" in run


@pytest.mark.parametrize(
    ("scale", "options", "reason"),
    [
        ("demo", {}, "demo scale"),
        ("lite+mine", {}, "overlay 'mine'"),
        ("lite", {"train": 2000}, "fewer training sequences"),
        ("lite", {"grammar": "half_digits"}, "second reading of the grammar"),
    ],
)
def test_what_cannot_be_compared(
    paper: Paper, results: Results, tmp_path: Path, scale: str, options: dict, reason: str
) -> None:
    for seed in (0, 1):
        results.add("stack_language", "uniform_discrete_penalty", seed, **options)
    tabulate(paper, "stack_language", scale, results.read(), tmp_path / "t")
    found = pick(rows(tmp_path / "t"), row="uniform: discrete + penalty", metric="recall")
    assert {one["verdict"] for one in found} == {"not comparable"}
    assert all(reason in one["note"] for one in found)


def test_generated_texts_cannot_be_compared(paper: Paper, results: Results, tmp_path: Path) -> None:
    results.add("text_classification", "sst_soft", 0, source="generated")
    tabulate(paper, "table_6_1", "lite", results.read(), tmp_path / "t")
    found = pick(rows(tmp_path / "t"), row="gradient norm: SST", column="TRANSFORMER")
    assert {one["verdict"] for one in found} == {"not comparable"}
    assert "stands in" in found[0]["note"]


def test_expressions_of_an_unknown_sampler_cannot_be_compared(paper: Paper, tmp_path: Path) -> None:
    at_depths = {f"infix_{of}": scalar(50, "%", n=1000) for of in ("all", "depth_1", "depth_3")}
    labels = {"experiment": "multiview_arithmetic", "variant": "infix", "scale": "lite"}
    infix = replace(
        one_run("infix", 0),
        run={**labels, "seed": 0, "data": {"dataset": "multiview_arithmetic"}},
        evaluators={"depths": {"scalars": at_depths, "arrays": {}}},
    )
    tabulate(paper, "table_6_5", "lite", Measures([infix]), tmp_path / "t")
    found = [one for one in rows(tmp_path / "t") if one["mean"] and one["expected"]]
    assert [one["expected"] for one in found] == ["66.0", "97.6", "36.8"]
    assert {one["verdict"] for one in found} == {"not comparable"}
    assert all("does not say how its expressions are drawn" in one["note"] for one in found)


def test_without_run_json_nothing_is_compared(
    paper: Paper, measures: Measures, lite: Results, tmp_path: Path
) -> None:
    tabulate(paper, "table_6_1", "lite", Measures.read(lite.measures), tmp_path / "t")
    words = {"not comparable", "second reading", "not run"}
    assert {one["verdict"] for one in rows(tmp_path / "t")} == words


def test_one_run_has_no_spread_over_runs(paper: Paper, results: Results, tmp_path: Path) -> None:
    """That over its examples, which stands in the row before, is another thing."""
    results.add("text_classification", "sst_soft", 0)
    tabulate(paper, "table_6_1", "lite", results.read(), tmp_path / "t")
    (accuracy,) = soft(tmp_path / "t", "accuracy")
    assert (accuracy["statistic"], accuracy["std"], accuracy["ci_low"]) == ("single", "", "")
    assert accuracy["verdict"] == "within, one seed"
    examples, runs = soft(tmp_path / "t", "tau_norm")
    assert examples["std"] and examples["ci_low"] and examples["ci_high"]
    assert (runs["spread_over"], runs["n"], runs["mean"]) == ("runs", "1", examples["mean"])
    assert (runs["std"], runs["ci_low"], runs["ci_high"]) == ("", "", "")


def test_an_overlay_shows_the_difference_to_its_scale(
    paper: Paper, measures: Measures, made: Path, tmp_path: Path
) -> None:
    base = tmp_path / "base.csv"
    text = made.joinpath("table_6_1.csv").read_text().splitlines()
    shifted = []
    for line in csv.DictReader(text):
        if line["mean"]:
            line["mean"] = str(float(line["mean"]) - 0.5)
        shifted.append(line)
    with base.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(shifted[0]))
        writer.writeheader()
        writer.writerows(shifted)
    write_sidecar(base.with_suffix(""), read_sidecar(made / "table_6_1.csv"), ["csv"])
    tabulate(paper, "table_6_1", "lite+mine", measures, tmp_path / "t", base)
    tau, *_, accuracy, _, _ = beside(tmp_path / "t", "gradient norm", "SST", "TRANSFORMER")
    assert tau.endswith(" [Δ +0.5]") and accuracy.endswith(" [Δ +0.5]")
    assert "difference +0.5" in rows(tmp_path / "t")[0]["note"]
    tabulate(paper, "table_6_1", "lite+mine", measures, tmp_path / "t", tmp_path / "none.csv")
    assert "Δ" not in (tmp_path / "t.md").read_text()
    flip(base, 800)
    with pytest.raises(ReportingError, match=r"base\.csv is damaged; .* make mend makes it anew"):
        tabulate(paper, "table_6_1", "lite+mine", measures, tmp_path / "t", base)


def test_an_overlays_table_names_what_it_changes_and_which_data_it_puts_in(
    paper: Paper, measures: Measures, made: Path, tmp_path: Path
) -> None:
    base = made.joinpath("table_6_1.csv")
    arguments = (paper, "table_6_1", "lite+mine", measures, tmp_path / "t", base)
    changed = {"training.clip": [1, 5]}
    tabulate(*arguments, {"text_classification/sst_soft": changed})
    written = (tmp_path / "t.md").read_text()
    assert "\n- The overlay changes training.clip from 1 to 5.\n" in written
    remark = paper.tables["tables"]["table_6_1"]["notes"][0]
    assert "Δ" in written and remark in written
    changed = {"data": [{"dataset": "sst"}, {"dataset": "own_texts", "least": 2}]}
    pairs = table_runs(paper.tables["tables"]["table_6_1"])
    tabulate(*arguments, {"/".join(pair): changed for pair in pairs if "sst" in pair[1]})
    written = (tmp_path / "t.md").read_text()
    lines_of_sst = [line for line in written.splitlines() if "SST (own_texts)" in line]
    assert lines_of_sst and not any("Δ" in line for line in lines_of_sst)
    assert 'changes data from {"dataset": "sst"} to {"dataset": "own_texts", "least": 2}' in written
    assert remark not in written and "The overlay puts other data in the place" in written
    assert "on other data (own_texts)" in soft(tmp_path / "t", "tau_norm")[0]["note"]
    assert "SST (own\\_texts)" in (tmp_path / "t.tex").read_text()


def test_rows_that_an_overlay_does_not_change_keep_their_names() -> None:
    mine = {"overlaid": {"data": [{"dataset": "sst"}, {"dataset": "own"}]}}
    cells = [
        record(row="a", column="x", runs=["1"], **mine),
        record(row="b", column="x", runs=["2"]),
        record(row="c", column="y", verdict="not run"),
    ]
    said = 'changes data from {"dataset": "sst"} to {"dataset": "own"} in “a”.'
    assert overlaid(cells) == [f"The overlay {said}"]
    assert on_other_data(frame(cells)) == ({"a": "own"}, {})
    cells[1] |= {"row": "a", "column": "y"}
    assert on_other_data(frame(cells)) == ({}, {"x": "own"})


def damaged(results: Results, *metrics: str, value: object, seeds: tuple[int, ...]) -> Measures:
    """Return the measures of SST's soft model in which scalars of some seeds have `value`."""
    for seed in (0, 1):
        path = results.add("text_classification", "sst_soft", seed)
        for metric in metrics if seed in seeds else ():
            measures = read_verified(path)
            evaluator, name = metric.split(".")
            scalar = plain({"value": value, "unit": "x", "n": 0})
            measures["evaluators"][evaluator]["scalars"][name] = scalar
            put(path, measures)
    return results.read()


@pytest.mark.parametrize("metric", ["accuracy.accuracy", "attention_importance.tau_norm"])
def test_a_value_that_is_not_defined_says_so(
    paper: Paper, results: Results, tmp_path: Path, metric: str
) -> None:
    read = damaged(results, metric, value=None, seeds=(0, 1))
    tabulate(paper, "table_6_1", "lite", read, tmp_path / "t")
    name = metric.partition(".")[2]
    found = soft(tmp_path / "t", name)
    assert {(one["mean"], one["std"], one["verdict"]) for one in found} == {
        ("undefined", "", "not comparable")
    }
    assert "undefined in 2 of 2 runs" in found[0]["note"]
    shown = beside(tmp_path / "t", "gradient norm", "SST", "TRANSFORMER")
    assert shown[0 if name == "tau_norm" else 3] == "–"


def test_a_seed_without_a_value_is_left_out_and_told(
    paper: Paper, results: Results, tmp_path: Path
) -> None:
    read = damaged(results, "accuracy.accuracy", value=None, seeds=(1,))
    tabulate(paper, "table_6_1", "lite", read, tmp_path / "t")
    (found,) = soft(tmp_path / "t", "accuracy")
    assert (found["n"], found["statistic"]) == ("1", "single")
    assert "undefined in 1 of 2 runs" in found["note"]


def test_runs_on_different_examples_end_in_a_sentence(
    paper: Paper, results: Results, tmp_path: Path
) -> None:
    for seed in (0, 1):
        path = results.add("text_classification", "sst_soft", seed)
        measures = read_verified(path)
        arrays = measures["evaluators"]["attention_importance"]["arrays"]
        arrays["tau_norm"] = arrays["tau_norm"][seed:]
        put(path, measures)
    with pytest.raises(ReportingError, match=r"different numbers of examples \(\[1820, 1821\]\)"):
        tabulate(paper, "table_6_1", "lite", results.read(), tmp_path / "t")


def test_both_verdicts_are_shown_where_texts_differ(measures: Measures, tmp_path: Path) -> None:
    paper = printing("precision", source="discrete2020", text="0.5")
    tabulate(paper, "stack_language", "lite", measures, tmp_path / "tables/p/t")
    best = beside(tmp_path / "tables/p/t", "", "discrete + penalty")
    assert best[3:5] == ["0.959 / 0.5", "✓/✗"]
    assert "✓/✗ beside each number that is printed" in (tmp_path / "tables/p/t.md").read_text()
    assert r"$^{\checkmark / \times}$" in (tmp_path / "tables/p/t.tex").read_text()
    printed = [one for one in rows(tmp_path / "tables/p/t") if one["expected"]]
    again = [one["flag"] == "reading" and one["verdict"] == "not run" for one in printed]
    judged = [one["verdict"] for one, missing in zip(printed, again, strict=True) if not missing]
    found = comparisons([tmp_path / "tables/p/t.csv"])
    assert [*found["verdict"]] == judged and len(judged) == 8


def test_why_a_number_differs_is_told_of_it_alone(measures: Measures, tmp_path: Path) -> None:
    paper = printing("precision", "recall", source="discrete2020", text="0.5")
    (said,) = paper.tables["tables"]["stack_language"]["differs"]
    assert (said["rows"], said["columns"]) == (["uniform_discrete_penalty"], ["recall"])
    tabulate(paper, "stack_language", "lite", measures, tmp_path / "tables/p/t")
    told = [
        (one["verdict"], one["metric"] == "recall", said["because"] in one["note"])
        for one in rows(tmp_path / "tables/p/t")
    ]
    assert ("differs", True, True) in told and ("differs", False, False) in told
    others = [because for word, recall, because in told if (word, recall) != ("differs", True)]
    assert not any(others)
    place = "uniform: discrete + penalty, recall, micro (macro)"
    below = f"- Differs ({place}): {said['because']}"
    assert below in (tmp_path / "tables/p/t.md").read_text()
    found = comparisons([tmp_path / "tables/p/t.csv"])
    assert {*found["because"]} == {"", said["because"]}


def test_a_best_run_is_not_compared_with_a_mean(measures: Measures, tmp_path: Path) -> None:
    paper = printing("accuracy", statistic="max")
    tabulate(paper, "table_6_1", "lite", measures, tmp_path / "t")
    (found,) = pick(
        rows(tmp_path / "t"), row="gradient norm: SST", column="DISC TRANSF", metric="accuracy"
    )
    assert found["verdict"] == "not comparable"
    assert "ours is a mean, the paper's a max" in found["note"]


def test_a_misprint_is_compared_with_nothing(measures: Measures, tmp_path: Path) -> None:
    paper = Paper("discrete_transformer")
    for place, number in paper.expected.values.items():
        paper.expected.values[place] = replace(number, flag="misprint")
    tabulate(paper, "table_6_1", "lite", measures, tmp_path / "t")
    printed = [one for one in rows(tmp_path / "t") if one["expected"] and one["n"]]
    words = {"not comparable", "second reading"}
    assert printed and {one["verdict"] for one in printed} == words
    assert all("the printed number is a misprint" in one["note"] for one in printed)


def toy_of(runs: Iterable[EvaluatedRun], **more: Any) -> tuple[dict[str, Any], LongForm]:
    """Return a table of the rows `a` and `b`, and its definition."""
    metric = {"measure": "probe.m", "label": "m", "digits": 1}
    columns = [{"id": "m", "label": "m", "metrics": ["m"]}]
    rows = [{"id": name, "label": name} for name in "ab"]
    made = checked(toy_table({"m": metric}, columns, rows, **more))
    return made, toy(made, runs)


def test_the_best_of_a_column_is_of_equally_many_seeds() -> None:
    """The third run of `a` is its best, and `b` has two."""
    values = {"a": [2.0, 3.0, 9.0], "b": [2.0, 4.0]}
    runs = [one_run(row, at, {"m": m}) for row, of in values.items() for at, m in enumerate(of)]
    made, table = toy_of(runs, statistic="max")
    assert shown(made, table) == [["a", "3.0 (best of 2)"], ["b", "4.0 (best of 2)"]]
    assert [cell["seeds"] for cell in records(table.cells)] == [[0, 1], [0, 1]]
    assert shown(*toy_of(runs)) == [["a", "4.7±3.8"], ["b", "3.0±1.4"]]


def test_rows_of_two_devices_are_marked_and_the_table_says_so() -> None:
    def on(row: str, device: str) -> EvaluatedRun:
        run = one_run(row, 0, {"m": 2.0})
        return replace(run, provenance={**run.provenance, "device": device})

    made, table = toy_of([on("a", "NVIDIA H200"), on("b", "cpu")])
    assert shown(made, table) == [["a", "2.0 ‡"], ["b", "2.0"]]
    text = written.markdown(made, "toy", laid_out(made, table), "lite")
    assert "Rows trained on a CPU and on a GPU must not be compared." in text
    for device in ("cpu", "NVIDIA H200"):
        made, table = toy_of([on("a", device), on("b", device)])
        assert shown(made, table) == [["a", "2.0"], ["b", "2.0"]]
        assert laid_out(made, table).caution == ""
