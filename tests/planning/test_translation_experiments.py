"""The translation experiments of two papers: what is shared is trained once."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.reporting.synthetic import plan_of
from workflow.definitions import cells
from workflow.definitions.paper import Paper
from workflow.planning.plan import Plan

SHARED = {
    "iwslt_30_softmax": "iwslt_30_soft",
    "multi30k_de_en_softmax": "multi30k_de_en_soft",
    "multi30k_en_de_softmax": "multi30k_en_de_soft",
}


@pytest.fixture(scope="module")
def lite(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    return plan_of(tmp_path_factory.mktemp("results"))


def test_softmax_is_trained_once_for_both_papers(lite: Plan) -> None:
    twins = {
        run.variant: twin.variant
        for run in lite.runs("sparse_translation")
        if (twin := lite.twin(run)) is not None and run.seed == twin.seed
    }
    assert twins == SHARED
    assert not any(lite.twin(run) for run in lite.runs("translation"))


def test_every_scale_has_its_corpora(tmp_path: Path) -> None:
    found = {}
    for scale in ("demo", "lite", "paper"):
        plan = plan_of(tmp_path, scale)
        runs = [run for name in ("translation", "sparse_translation") for run in plan.runs(name)]
        found[scale] = {(run.recipe["dataset"], run.recipe.get("source")) for run in runs}
    assert found == {
        "demo": {("multi30k", "generated")},
        "lite": {("multi30k", "official"), ("iwslt14_30", None)},
        "paper": {("iwslt14", None), ("iwslt15", None), ("wmt14", None)},
    }


def test_reduced_data_never_stand_beside_a_printed_number() -> None:
    """What is trained on other data than the papers' has no printed number, but for the baseline of
    chunking, which no model is needed for."""
    for paper, names in (
        ("explicit_sparse", ("table_1", "table_4", "table_5")),
        ("discrete_transformer", ("table_6_2", "table_6_3", "table_6_4")),
    ):
        definitions = Paper(paper).tables
        for name in names:
            for row, column, variant, places in _cells(definitions, name):
                if variant.startswith(("multi30k", "iwslt_30")) and "baseline" not in row:
                    assert not places, (name, row, column)


def _cells(definitions: dict[str, Any], name: str) -> Iterator[tuple[str, str, str, list[Any]]]:
    """Yield row, column, variant and printed places of every cell that is not quoted."""
    table = definitions["tables"][name]
    for row, column in cells.cells(table):
        if not row.get("quoted"):
            variant = cells.cell_variant(table, row, column)
            yield row["id"], column["id"], variant, cells.printed_places(table, row, column)
