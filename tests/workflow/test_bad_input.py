"""Every mistake of a person ends in one sentence, before any job starts."""

import pytest

EXPERIMENTS = "workflow/papers/toy/experiments.yaml"


def refuses(project, *says, asked=(), config=()):
    """Have a dry run end in an error that says all this; return it."""
    error = project.snakemake("--dry-run", *asked, config=config, fails=True).error
    assert all(part in error for part in says), error
    return error


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ("scael=lite", ('unknown key "scael"', 'did you mean "scale"?')),
        ("seeds=three", ("seeds: expected", 'found "three"')),
        ("keep_checkpoints=yes", ("keep_checkpoints: expected true or false",)),
        ("results=/proc/saccade", ('results: nothing can be written to "/proc/saccade"',)),
    ],
)
def test_configuration(fresh, config, says):
    refuses(fresh, *says, config=(config,))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("scale: demo\n# caf\xe9\n", "config.yaml, line 2: not valid YAML: a byte that is not"),
        ("scale", "expected a mapping"),
    ],
)
def test_a_damaged_config_yaml_is_named(fresh, text, says):
    (fresh.root / "config.yaml").write_text(text, encoding="latin-1")
    refuses(fresh, "config.yaml", says)


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("toy_languag", ('unknown target "toy_languag"', 'did you mean "toy_language"?')),
        ("results/demo/measures/toy_language/sofd/seed-0.json", ('did you mean "soft"?',)),
        ("results/demo/measures/toy_languag/soft/seed-0.json", ('did you mean "toy_language"?',)),
        ("results/data/stack_language/0123456789ab/encoded", ("no experiment uses this data",)),
    ],
)
def test_target(fresh, target, says):
    refuses(fresh, *says, asked=(target,))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("title: A language", "titel: A language", ('unknown key "titel"', '"title"?')),
        ("train: 64", "train: -64", ("Option `train` of dataset `stack_language` is -64",)),
        ("gumbel:Gumbel", "gumble:Gumbel", ("no module", '"model.normalizers.gumbel"?')),
    ],
)
def test_experiment(fresh, old, new, says):
    fresh.edit(EXPERIMENTS, old, new)
    refuses(fresh, EXPERIMENTS, *says)


def test_a_scale_that_is_not_selected(fresh):
    fresh.edit(EXPERIMENTS, "lite: {training: {updates: 6}}", "lite: {training: {update: 6}}")
    where = 'toy_language.scales.lite.training: unknown key "update"'
    refuses(fresh, where, 'did you mean "updates"?')


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ("toy_language: {trainnig: {}}", ('unknown key "trainnig"', '"training"?')),
        ("toy_language: {model: {decoder: {widht: 8}}}", ('unknown argument "widht"',)),
    ],
)
def test_overlay(fresh, changes, says):
    (fresh.root / "mine.yaml").write_text(
        f"overlay: {{name: mine, experiments: {{{changes}}}}}\nexperiments: toy_tuning\n"
    )
    refuses(fresh, "/mine.yaml: overlay: experiments", *says, asked=("--configfile", "mine.yaml"))


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        (["seeds: 1\nseeds: 2\n"], 'a.yaml, line 2: not valid YAML: the key "seeds" stands twice'),
        (
            ["budget: {gpu_hours: .inf}\n"],
            "budget.gpu_hours: expected a number or null, found .inf",
        ),
        (
            [f"overlay: {{name: {name}, experiments: {{toy_tuning: {{}}}}}}\n" for name in "xy"],
            'b.yaml: overlay.name: "y", where ',
        ),
    ],
)
def test_a_file_of_changes(fresh, texts, says):
    files = [f"{letter}.yaml" for letter, _ in zip("ab", texts, strict=False)]
    for file, text in zip(files, texts, strict=True):
        (fresh.root / file).write_text(text)
    refuses(fresh, says, asked=("--configfile", *files))


def test_a_working_folder_that_cannot_be_written(fresh):
    (fresh.root / ".snakemake").touch()
    refuses(fresh, "--directory FOLDER --snakefile")


def test_a_module_that_is_not_python(fresh):
    fresh.edit("model/training/loop.py", "import math", "import math math")
    refuses(fresh, "model/training/loop.py, line", "not valid Python")


def test_a_target_with_the_name_of_a_rule(fresh):
    fresh.edit(EXPERIMENTS, "toy_tuning:", "train:")
    fresh.edit("workflow/papers/toy/tables.yaml", "experiment: toy_tuning", "experiment: train")
    said = 'target "train" is the name of a rule and of experiment train; rename one'
    assert refuses(fresh) == said
