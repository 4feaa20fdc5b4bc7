"""`make plan`, the budget, cores, and planned against spent, with the real Snakemake."""

import json
import re
from pathlib import Path

import pytest

from tests.planning.conftest import CONFIG
from tests.sealing import put
from tests.workflow.conftest import Project
from workflow.commands.plan import by_hand, downloads
from workflow.datasets.kinds.recipe import threads
from workflow.planning.cost import Job
from workflow.planning.plan import Plan
from workflow.reporting.page.page import render
from workflow.reporting.page.runs import recorded
from workflow.runtime.locking import NAME

ROOT = Path(__file__).resolve().parents[2]
RUNS = "results/demo/runs/toy_language"


def rows(said: str) -> dict[str, list[str]]:
    """The table's rows by their first column, cut at the gaps."""
    lines = [re.split(r"  +", line.strip()) for line in said.splitlines()]
    return {cells[0]: cells[1:] for cells in lines if len(cells) > 5}


def test_the_plan_of_a_fresh_project(fresh):
    said = fresh.command("plan", "--scale", "demo", "--parallel", "3", "--device", "cpu")
    table = rows(said)
    assert [(name, *cells[:2], cells[-1]) for name, cells in table.items() if "toy" in name] == [
        ("toy_language", "4", "2", "2 FLOPs"),
        ("toy_tuning", "2", "1", "1 FLOPs"),
    ]
    assert table["total"][:2] == ["16", "3"]
    assert "Hours of training with 3 runs at once" in said
    assert "FLOPs: within a factor of 10" in said
    assert said.splitlines()[-1] == "Downloads: none."
    first, warning_or_gap, *_ = said.splitlines()
    assert re.fullmatch(
        r"16 jobs, 3 runs: (under a|about \d+) minutes? here with 3 at once \(.+ core-hours\)\.",
        first,
    )
    assert not warning_or_gap
    runs = json.loads((fresh.root / "results/demo/plan.json").read_text())["runs"]
    assert {key.rpartition("/")[0] for key in runs} == {
        "toy_language/soft",
        "toy_language/gumbel",
        "toy_tuning/tuned",
    }


@pytest.mark.parametrize(
    ("folder", "says"),
    [
        ("lite", "this file is of scale lite, not demo; say SCALE=lite\n"),
        ("lite+mine", "lite+mine, not demo; say SCALE=lite OVERLAY=<the file of mine>\n"),
    ],
)
def test_a_file_of_another_scale_is_told(fresh, folder, says):
    file = f"results/{folder}/measures/toy_language/soft/seed-0.json"
    for program in ("plan", "run"):
        assert says in f"{fresh.command(program, file, '--scale', 'demo', fails=True)}\n"


@pytest.mark.parametrize("program", ["plan", "run"])
def test_what_a_constructor_refuses_ends_before_any_job(fresh, program):
    mine = fresh.root / "mine.yaml"
    node = {"path": "model.normalizers.topk:TopK", "k": 0}
    mine.write_text(json.dumps({"mechanisms": {"mine": node}}))
    said = fresh.command(program, "--scale", "demo", "--configfile", str(mine), fails=True)
    assert f"error: {mine}, line 1: mechanisms.mine.k: it can't be built (k must be" in said
    assert not [*fresh.root.glob("results/**/*.log")]


def test_what_is_done_is_not_planned_and_what_was_measured_is_said(project):
    def planned(*arguments: str) -> dict[str, list[str]]:
        return rows(
            project.command("plan", "--scale", "demo", "--device", "cpu", *arguments, "--", "toy")
        )

    assert "toy_language" not in planned()
    (project.root / RUNS / "soft/seed-0/weights.safetensors").unlink()
    assert planned()["toy_language"][-1] == "1 store"
    listed = project.command("plan", "--scale", "demo", "--jobs", "toy_language").splitlines()
    assert "train       toy_language/soft/seed-0  (from the store)" in listed
    assert "toy_language" not in listed and listed[-1] == f"{len(listed) - 1} jobs would run"
    mine = project.root / "mine.yaml"
    changes = {"training": {"updates": 8}, "seeds": 2}
    overlay = {"name": "longer", "experiments": {"toy_language": changes}}
    mine.write_text(json.dumps({"overlay": overlay}))
    longer = planned("--configfile", "mine.yaml")
    assert longer["toy_language"][1] == "4" and longer["toy_language"][-1] == "4 scaled"
    changes["training"] = {"updates": 4}
    mine.write_text(json.dumps({"overlay": overlay}))
    more = planned("--configfile", "mine.yaml")
    assert sorted(more["toy_language"][-1].split(", ")) == ["2 measured", "2 store"]


def test_a_budget_stops_training_before_any_job_and_nothing_else(fresh):
    tight = ("budget={gpu_hours: 1e-9}", "device=cpu")
    for profile in ((), ("--profile", "slurm")):
        refused = fresh.snakemake("toy", *profile, config=tight, fails=True)
        assert "these jobs need about" in refused.error and "toy_language" in refused.error
        made = sorted(path.name for path in (fresh.root / "results").glob("*"))
        assert made == [NAME]  # the lock alone
    assert fresh.plan("toy", config=tight).trained
    # Not locked, and what trains nothing may run.
    run = f"{RUNS}/soft/seed-0/run.json"
    fresh.snakemake(run, "--until", "encode", config=tight)
    fresh.snakemake(run, config=("budget={gpu_hours: 10}", "device=cpu"))
    assert (fresh.root / run).is_file()
    planned = json.loads((fresh.root / "results/demo/plan.json").read_text())["runs"]
    assert list(planned) == ["toy_language/soft/seed-0"]


def test_planned_and_spent_stand_side_by_side(finished, tmp_path):
    runs = [finished.root / RUNS / name / "seed-0/run.json" for name in ("soft", "gumbel")]
    spent = [json.loads(path.read_text())["device_seconds"] for path in runs]
    assert "No plan was made" in render("demo", recorded(runs), plan=tmp_path / "none.json")
    plan = tmp_path / "plan.json"
    entry = {"seconds": 7200.0, "units": 7200.0, "source": "FLOPs"}
    put(plan, {"schema": 1, "runs": {"toy_language/soft/seed-0": entry}})
    page = render("demo", recorded(runs), plan=plan)
    (section,) = re.findall(r"Planned and spent(.*?)</table>", page, re.S)
    cells = re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", section.partition("<tbody>")[2])
    hours = [seconds / 3600 for seconds in (spent[0], sum(spent))]
    assert cells == [
        *("toy_language", "2", "1", "2.000", f"{hours[0]:.3f}", f"{hours[0] / 2:.2f}"),
        f"{hours[1]:.3f}",
    ]


def test_downloads_are_what_neither_mirror_nor_person_has(tmp_path):
    plan = Plan({**CONFIG, "scale": "lite", "results": str(tmp_path)}, ROOT)
    table = [line.split("\t") for line in (ROOT / "workflow/sources.tsv").read_text().splitlines()]
    imdb, yelp = (next(row for row in table if row[0] == name) for name in ("imdb", "yelp"))
    jobs = [Job("fetch", {"dataset": row[0], "file": row[1]}) for row in (imdb, yelp)]
    said = downloads(plan, jobs)
    size = int(imdb[5]) / 1e6
    assert said[0] == f"Downloads: 1 files, {size:.1f} MB (imdb {size:.1f} MB)."
    assert said[1].startswith(f"yelp/{yelp[1]} can't be downloaded; get it from https://")
    assert downloads(plan, jobs[1:]) == said[1:]
    features = [Job("index_features", {"dataset": "coco"})]
    (short,) = downloads(plan, [*jobs[1:], *features])
    assert short.startswith("To get by hand: data of yelp, coco; LIST=1")
    assert by_hand(plan, [*jobs, *features])[:-1] == said[1:]
    for row in (imdb, yelp):
        path = tmp_path / "data" / "manual" / row[0] / row[1]
        path.parent.mkdir(parents=True)
        path.touch()
    # A file that can be downloaded is, wherever a person puts one of its name.
    assert downloads(plan, jobs) == said[:1]
    assert downloads(plan, jobs[1:]) == ["Downloads: none."]
    assert "no features of the images of `coco`" in downloads(plan, features)[0]


def test_pairs_are_prepared_with_the_cores_that_are_declared(real: Project) -> None:
    plan = Plan({**CONFIG, "scale": "lite", "results": "results"}, real.root)
    run = plan.run("sparse_translation", "multi30k_de_en_softmax", 0)
    cores = threads(run.recipe) - 1  # given to Snakemake, whatever this machine has
    assert cores > 1
    said = real.plan(
        f"results/data/{run.data}/encoded",
        "--printshellcmds",
        *("--cores", str(cores)),
        config=("scale=lite",),
    ).said
    for rule in ("prepare", "encode"):
        (block,) = re.findall(rf"^(?:local)?rule {rule}:\n((?: .*\n)+)", said, re.M)
        assert re.search(rf"^ +threads: {cores}$", block, re.M), block  # as there are no more
        (command,) = re.findall(rf"workflow.scripts.{rule} .*", said)
        assert f" --threads {cores} " in command
