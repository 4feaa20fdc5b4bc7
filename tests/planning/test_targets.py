"""Names that can be asked for, and the files behind them."""

from pathlib import Path

import pytest
import yaml

from tests.planning.conftest import ABOUT
from workflow.definitions.expected import COLUMNS
from workflow.planning.inputs import Inputs
from workflow.planning.plan import Plan
from workflow.planning.targets import RUN_FILES, Targets
from workflow.runtime.errors import InputError, unknown

ROOT = Path(__file__).resolve().parents[2]
LOSS = {"id": "loss", "label": "loss", "metrics": ["loss"]}
TABLE = {
    "title": "Losses",
    "caption": "Losses.",
    "source": "kinley2020",
    "experiment": "one",
    "variant": "{row}",
    "labels": ["Model"],
    "rows": [{"id": "small", "label": "small"}, {"id": "still_to_come", "label": "later"}],
    "columns": [LOSS],
}
METRICS = {"loss": {"measure": "probe.loss", "label": "loss", "digits": 2}}
FIGURE = {
    "title": "Curve",
    "caption": "A curve.",
    "experiment": "one",
    "path": "model.probe:probe",
    "panels": [{"label": "a", "series": [{"variant": "small", "label": "small"}]}],
}


def targets(project, tables=None, figures=None, expected=None, **config):
    """The targets of a project with tables and figures."""
    project.save()
    made = {"metrics": METRICS, "tables": tables or {"losses": TABLE}}
    project.write("workflow/papers/paper/tables.yaml", yaml.safe_dump(made))
    project.write("workflow/papers/paper/expected.csv", expected or ",".join(COLUMNS) + "\n")
    if figures:
        project.write("workflow/papers/paper/figures.yaml", yaml.safe_dump({"figures": figures}))
    return Targets(Plan({**project.config, "results": "out", **config}, project.root))


def test_the_files_of_every_name(project):
    made = targets(project, figures={"curve": FIGURE})
    found = {name: made.files(name) for name in made.names}
    table = [f"out/demo/tables/paper/losses.{x}" for x in ("csv", "md", "tex", "json")]
    figure = [f"out/demo/figures/paper/curve.{x}" for x in ("pdf", "png", "svg", "json")]
    assert set(found) == {"one", "two", "paper", "kinley2020", "paper_losses", "paper_curve"}
    assert found["paper_losses"] == table
    assert found["paper_curve"] == figure
    assert found["one"] == [
        "out/demo/runs/one/small/seed-0/weights.safetensors",
        "out/demo/runs/one/small/seed-0/history.jsonl",
        "out/demo/runs/one/small/seed-0/run.json",
        "out/demo/measures/one/small/seed-0.json",
        *table,
        *figure,
    ]
    assert set(found["paper"]) == {*found["one"], *found["two"]}
    assert found["kinley2020"] == found["paper"]


def test_a_name_that_is_not_asked_for_costs_no_run(project, monkeypatch):
    found = targets(project)
    monkeypatch.delattr(Plan, "runs")
    assert "one" in found.names
    with pytest.raises(AttributeError):
        found.files("one")


def test_a_selection_leaves_the_other_experiment_out(project):
    chosen = targets(project, experiments=["two"]).selected
    assert chosen
    assert not [file for file in chosen if "/one/" in file or "losses" in file]


def test_a_table_of_two_experiments_belongs_to_the_selection_of_both(project):
    other = {"id": "other", "label": "x", "experiment": "two", "variant": "small"}
    both = {**TABLE, "rows": [*TABLE["rows"], other]}
    tables = {"losses": TABLE, "both": both}
    made = targets(project, tables)
    for files in (made.selected, made.files("paper")):
        assert files.count("out/demo/tables/paper/both.md") == 1
        assert files.count("out/demo/tables/paper/losses.md") == 1
    for one in ("one", "two"):
        assert not [f for f in made.files(one) if "/both" in f]
        assert not [f for f in targets(project, tables, experiments=[one]).selected if "both" in f]


def test_what_the_project_ships_selects_every_table_figure_and_claim():
    config = yaml.safe_load((ROOT / "config.yaml").read_text("utf-8"))
    made = Targets(Plan(config, ROOT))
    selected = set(made.selected)
    for paper in made.papers.values():
        own = (name for name in made.names if name.startswith(f"{paper.name}_"))
        asked = [file for name in own for file in made.files(name)]
        assert asked
        assert {*asked, *made.claims(paper)} <= selected
        across = set(made.files("discrete_transformer_survey"))
        assert {*asked, *made.claims(paper)} - across <= set(made.files(paper.name))


def test_a_paper_is_asked_for_by_its_key():
    made = Targets(Plan(yaml.safe_load((ROOT / "config.yaml").read_text("utf-8")), ROOT))
    for key, folder in {
        "snell2021": "attention_learning",
        "kinley2020": "discrete_transformer",
        "zhao2019": "explicit_sparse",
        "weissenborn2019": "role_interaction",
    }.items():
        assert made.files(key) == made.files(folder)
    # Of the folder's experiments two are its own; the claims need the others too.
    shared = set(made.files("discrete2020"))
    assert shared == {*made.files("stack_language"), *made.files("translation")}
    assert made.names["discrete2020"].called == "paper discrete2020"


def test_a_folder_may_have_the_name_of_its_paper(project):
    plan = targets(project).plan
    cited = ABOUT["papers"]["kinley2020"]
    about = {"title": "T", "papers": {"paper": cited, "kinley2020": cited}}
    project.write("workflow/papers/paper/paper.yaml", yaml.safe_dump(about))
    made = Targets(plan)
    assert set(made.names) == {"one", "two", "paper", "kinley2020", "paper_losses"}
    assert made.files("kinley2020") == []  # of a folder's papers no experiment names it


def test_an_overlay_has_a_folder_of_its_own(project):
    overlay = {"name": "mine", "experiments": {"one": {"training": {"updates": 3}}}}
    assert targets(project, overlay=overlay).plan.folder == "out/demo+mine"


def test_runs_behind_a_table_leave_out_what_is_not_there(project):
    paper = targets(project, scale="paper").papers["paper"]
    assert [run.key for run in paper.runs("tables", "losses")] == [
        f"one/small/seed-{n}" for n in range(3)
    ]


def test_a_definition_holds_one_table_and_what_all_share(project):
    other = {**TABLE, "title": "Others"}
    before = targets(project, {"losses": TABLE, "others": other}).papers["paper"]
    after = targets(project, {"losses": TABLE, "others": TABLE}).papers["paper"]
    assert before.definition("tables", "losses") == after.definition("tables", "losses")
    assert before.definition("tables", "others") != after.definition("tables", "others")
    assert before.definition("claims", "") == after.definition("claims", "")


def test_a_figure_is_drawn_by_the_function_that_it_names(project):
    paper = targets(project, figures={"curve": FIGURE}).papers["paper"]
    assert paper.code("figures", "curve") == [FIGURE["path"]]
    assert paper.code("tables", "losses") == []
    assert [run.key for run in paper.runs("figures", "curve")] == ["one/small/seed-0"]


def test_claims_are_made_from_their_runs(project):
    claim = """{id: better, claim: Small is better., source: kinley2020, experiment: one,
        measure: probe.loss, label: loss, unit: nats, digits: 2, over: runs, direction: less,
        margin: 0, left: {variant: small, label: small}, right: {value: 1}}"""
    project.write("workflow/papers/paper/claims.yaml", f"claims: [{claim}]")
    made = targets(project)
    paper = made.papers["paper"]
    assert made.claims(paper) == ["out/demo/claims/paper.json"]
    assert "out/demo/claims/paper.json" in made.selected
    # They would train runs of experiments that nobody asked for.
    assert not [f for f in targets(project, experiments=["two"]).selected if "/one/" in f]
    assert not [f for f in targets(project, experiments=["two"]).selected if "claims" in f]
    assert made.run_files(paper.runs("claims", "")) == ["out/demo/runs/one/small/seed-0/run.json"]
    wrong = claim.replace("variant: small", "variant: smal")
    project.write("workflow/papers/paper/claims.yaml", f"claims: [{wrong}]")
    with pytest.raises(InputError, match=r'claims\.yaml: unknown variant of one "smal".*"small"\?'):
        targets(project)


TASK = {"title": "T", "about": "A.", "kind": "next", "experiment": "one"}


def explored(project, **changes):
    tasks = {"tasks": {"toy": {**TASK, "models": ["large", "small"], **changes}}}
    project.write("workflow/papers/paper/explorer.yaml", yaml.safe_dump(tasks))


def test_the_explorer_shows_the_first_seed_of_what_the_scale_has(project):
    explored(project, scales={"lite": ["large"]})
    assert [run.key for run in targets(project).explored] == ["one/small/seed-0"]
    assert [run.key for run in targets(project, seeds=[7, 4]).explored] == ["one/small/seed-4"]
    assert [run.key for run in targets(project, scale="lite").explored] == ["one/large/seed-0"]
    files = [f"out/demo/runs/one/small/seed-0/{name}" for name in RUN_FILES]
    inputs = Inputs(targets(project))
    assert inputs.of_explore({})["files"] == files
    assert inputs.of_explore({})["data"] == [f"out/data/{inputs.targets.explored[0].data}/encoded"]


def test_the_explorer_waits_for_recordings_that_the_scale_makes(project):
    recorded = {"toy": {"title": "T", "experiment": "one", "models": ["large", "small"]}}
    tasks = {"toy": {**TASK, "models": ["small"]}}
    said = {"tasks": tasks, "recorded": recorded}
    project.write("workflow/papers/paper/explorer.yaml", yaml.safe_dump(said))
    assert Inputs(targets(project)).of_explore({})["measures"] == []
    evaluator = {"recorded": {"path": "model.probe:probe"}}
    project.experiments["one"]["scales"]["demo"]["evaluators"] = evaluator
    measures = Inputs(targets(project)).of_explore({})["measures"]
    assert measures == ["out/demo/measures/one/small/seed-0.json"]
    recorded["toy"]["models"] = ["smal"]
    project.write("workflow/papers/paper/explorer.yaml", yaml.safe_dump(said))
    unknown = r'explorer\.yaml: unknown variant of one "smal".*"small"'
    with pytest.raises(InputError, match=unknown):
        targets(project)
    said = {"tasks": tasks, "weights": {"one": ["smal"]}}
    project.write("workflow/papers/paper/explorer.yaml", yaml.safe_dump(said))
    with pytest.raises(InputError, match=unknown):
        targets(project)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"models": ["smal"]}, r'explorer\.yaml: unknown variant of one "smal".*"small"'),
        ({"scales": {"demo": ["lage"]}}, r'explorer\.yaml: unknown variant of .* "lage".*"large"'),
        ({"kind": "nxt"}, r'tasks\.toy\.kind: "nxt" is not allowed .*"next"\?'),
        ({"scales": {"demo": []}}, r"explore: no explorer\.yaml in .* of scale demo; name"),
    ],
)
def test_mistakes_in_what_the_explorer_shows(project, changes, says):
    explored(project, **changes)
    with pytest.raises(InputError, match=says):
        _ = targets(project).explored


PRINTED = {"source": "kinley2020", "table": "T", "row": "r", "column": "c", "metric": "m"}


def of_table(**changes):
    return {"tables": {"losses": TABLE | changes}}


def of_figure(**series):
    panels = [{"label": "a", "series": [{"variant": "small", "label": "small"} | series]}]
    return {"figures": {"curve": FIGURE | {"panels": panels}}}


@pytest.mark.parametrize(
    ("definitions", "says"),
    [
        (of_table(experiment="on"), 'unknown experiment "on"'),
        (of_table(rows=[{"id": "smal", "label": "x"}]), "unknown variant of one"),
        (of_table(columns=[LOSS | {"metrics": ["los"]}]), r'losses, loss: unknown metric "los"'),
        (of_figure(variant="smal"), r'figures\.yaml: unknown variant of one "smal"'),
        (of_figure(printed=PRINTED), r"curve, a, small: .*no number at kinley2020, T, r, c, m"),
        ({"expected": "source\nkinley2020\n"}, r"expected\.csv: the header must be source,table"),
    ],
)
def test_mistakes_in_definitions_end_the_planning(project, definitions, says):
    with pytest.raises(InputError, match=says):
        targets(project, **definitions)


def test_a_number_that_is_printed_is_found(project):
    number = ",".join(COLUMNS) + "\nkinley2020,T,r,c,m,1.5,,,nats,,\n"
    assert targets(project, **of_figure(printed=PRINTED), expected=number).files("paper_curve")
    (project.root / "workflow/papers/paper/expected.csv").unlink()
    with pytest.raises(InputError, match=r"expected\.csv is missing"):
        Targets(Plan({**project.config, "results": "out"}, project.root))


def test_names_that_collide(project):
    made = targets(project)
    made.check_names(["all", "train"])
    with pytest.raises(InputError, match='"one" is the name of a rule and of experiment one'):
        made.check_names(["one"])
    project.write("paper_losses", "")
    with pytest.raises(InputError, match='"paper_losses" is the name of a file and of table los'):
        made.check_names([])
    both = targets(project, figures={"losses": FIGURE})
    with pytest.raises(InputError, match=r'"paper_losses" is the name of table losses .* figure'):
        both.files("paper_losses")


def test_an_unknown_name_is_answered_with_the_nearest(project):
    with pytest.raises(InputError, match='did you mean "paper_losses"'):
        targets(project).refuse("paper_loses")


def test_of_many_names_the_nearest_is_told():
    few, many = ["a", "stack"], [f"n{number}" for number in range(99)] + ["stack"]
    told = [str(unknown("here", "target", "stak", names)) for names in (few, many)]
    assert told[0] == 'here: unknown target "stak" (known: a, stack); did you mean "stack"?'
    assert told[1] == 'here: unknown target "stak" (known: 100 names); did you mean "stack"?'
    three = str(unknown("here", "target", "stac", [*many, "stacks", "staccato", "stick", "n1"]))
    assert three.endswith('(known: 104 names); did you mean "stack", "stacks" or "stick"?')
    none = str(unknown("here", "target", "????", many, "docs/scales.md"))
    assert none == 'here: unknown target "????" (known: 100 names, listed in docs/scales.md)'
    words = ["role_token_iwslt", "paper_explanation_ranks", "explanation_ranks", "franks_own"]
    assert str(unknown("", "target", "ranks", words)).endswith('mean "explanation_ranks"?')
    both = str(unknown("", "target", "ranks", [*words, *many]))
    assert both.endswith('did you mean "explanation_ranks" or "paper_explanation_ranks"?')
