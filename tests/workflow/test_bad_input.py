"""Every mistake of a person ends in one sentence, before any job starts.

Here each place where a mistake can stand is tried with one; what each says is tested where it is
read, in `tests/definitions`, `tests/planning` and `tests/datasets/kinds`.
"""

import pytest

EXPERIMENTS, TABLES = (f"workflow/papers/toy/{name}.yaml" for name in ("experiments", "tables"))
RUNS = "results/demo/measures/toy_language"
WRONG = "overlay: {name: mine, experiments: {toy_language: {trainnig: {}}}}\n"


def refuses(project, *says, asked=(), config=()):
    """Have a dry run end in an error that says all this."""
    error = project.snakemake("--dry-run", *asked, config=config, fails=True).error
    assert all(part in error for part in says), error


@pytest.mark.parametrize(
    ("asked", "config", "says"),
    [
        ((), "scael=lite", ('unknown key "scael"', 'did you mean "scale"?')),
        ((), "keep_checkpoints=yes", ("keep_checkpoints: expected true or false",)),
        ((), "results=/proc/saccade", ('results: nothing can be written to "/proc/saccade"',)),
        (["toy_languag"], "seeds=1", ('unknown target "toy_languag"', '"toy_language"?')),
        ([f"{RUNS}/sofd/seed-0.json"], "seeds=1", ('did you mean "soft"?',)),
    ],
)
def test_what_is_asked_for_on_the_command_line(fresh, asked, config, says):
    refuses(fresh, *says, asked=asked, config=(config,))


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        ("config.yaml", "scale: ", "# caf\xe9\nscale: ", ("config.yaml, line ", "not UTF-8")),
        (EXPERIMENTS, "title: A language", "titel: A", (EXPERIMENTS, 'unknown key "titel"')),
        (EXPERIMENTS, "train: 64", "train: -64", (EXPERIMENTS, "Option `train` of dataset")),
        (EXPERIMENTS, "gumbel:Gumbel", "gumble:Gumbel", (EXPERIMENTS, "no module")),
        # of a scale that is not selected
        (EXPERIMENTS, "{updates: 6}", "{update: 6}", ('scales.lite.training: unknown key "upd',)),
        ("model/training/loop.py", "import math", "import math math", ("loop.py, line", "Python")),
    ],
)
def test_what_a_file_of_the_project_says(fresh, file, old, new, says):
    path = fresh.root / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="latin-1" if "\xe9" in new else "utf-8")
    refuses(fresh, *says)


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        (
            [f"{WRONG}experiments: toy_tuning\n"],
            "/a.yaml, line 1: overlay: experiments.toy_language: unknown key",
        ),
        (["seeds: 1\nseeds: 2\n"], 'a.yaml, line 2: not valid YAML: the key "seeds" stands twice'),
        ([WRONG, WRONG.replace("mine", "yours")], 'b.yaml: overlay.name: "yours", where '),
        (["__use_yte__: true\nseeds: 1\n"], 'unknown key "__use_yte__"'),
    ],
)
def test_what_files_of_changes_say(fresh, texts, says):
    files = ["a.yaml", "b.yaml"][: len(texts)]
    for file, text in zip(files, texts, strict=True):
        (fresh.root / file).write_text(text)
    refuses(fresh, says, asked=("--configfile", *files))


def test_the_configuration_is_never_replaced(fresh):
    (fresh.root / "a.yaml").write_text("seeds: 1\n")
    asked = ("--replace-workflow-config", "--configfile", "a.yaml")
    refuses(fresh, "--replace-workflow-config: config.yaml is always read", asked=asked)


def test_a_working_folder_that_cannot_be_written(fresh):
    (fresh.root / ".snakemake").touch()
    refuses(fresh, "--directory FOLDER --snakefile")


def test_a_target_with_the_name_of_a_rule(fresh):
    fresh.edit(EXPERIMENTS, "toy_tuning:", "train:")
    fresh.edit(TABLES, "experiment: toy_tuning", "experiment: train")
    refuses(fresh, 'target "train" is the name of a rule and of experiment train; rename one')
