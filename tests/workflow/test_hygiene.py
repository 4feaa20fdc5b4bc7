"""Nothing from elsewhere is executed, paths are quoted, and files have the modes a person chose."""

import ast
import os
import re
from pathlib import Path

import pytest
import yaml

from workflow.definitions import loader
from workflow.definitions.experiments import Experiments
from workflow.runtime.errors import InputError
from workflow.runtime.store import Entry

ROOT = Path(__file__).resolve().parents[2]
CODE = [*sorted((ROOT / "model").rglob("*.py")), *sorted((ROOT / "workflow").rglob("*.py"))]
RULES = [
    *(ROOT / "Snakefile", ROOT / "workflow" / "Snakefile"),
    *sorted((ROOT / "workflow" / "rules").glob("*.smk")),
]
UNSAFE_MODULES = {"pickle", "dill", "cloudpickle", "joblib", "marshal", "shelve"}
UNSAFE_CALLS = {"eval", "exec", "os.system", "os.popen", "pandas.read_pickle", "pd.read_pickle"}
EXCEPTIONS = {"pickle.UnpicklingError"}


def unsafe(source: str) -> list[str]:
    """What a module does that could execute what it reads, or a shell."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Call):
            found += _unsafe_call(node)
            continue
        else:
            continue
        found += [n for n in names if n.split(".")[0] in UNSAFE_MODULES and n not in EXCEPTIONS]
    return found


def _unsafe_call(call: ast.Call) -> list[str]:
    name = ast.unparse(call.func)
    given = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
    wrong = (
        name in UNSAFE_CALLS
        or given.get("shell", "False") != "False"
        or given.get("allow_pickle", "False") != "False"
        or (name == "torch.load" and given.get("weights_only") != "True")
        or (name.startswith("yaml.") and "load" in name and name != "yaml.safe_load"
            and given.get("Loader") != "_Loader")
    )  # fmt: skip
    return [ast.unparse(call)] if wrong else []


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "import os, joblib",
        "from pickle import loads",
        "torch.load(path)",
        "torch.load(path, weights_only=False)",
        "np.load(path, allow_pickle=True)",
        "yaml.load(text, Loader=yaml.Loader)",
        "yaml.unsafe_load(text)",
        "yaml.full_load(text)",
        "run(command, shell=True)",
        "os.system(command)",
        "def f():\n    return eval(text)",
    ],
)
def test_what_is_unsafe_is_found(source):
    assert len(unsafe(source)) == 1


def test_nothing_that_is_read_can_run_code():
    assert len(CODE) > 50
    found = {str(path.relative_to(ROOT)): unsafe(path.read_text()) for path in CODE}
    assert {path: faults for path, faults in found.items() if faults} == {}


def test_yaml_makes_only_plain_values(tmp_path):
    assert issubclass(loader._Loader, yaml.constructor.SafeConstructor)
    path = tmp_path / "experiments.yaml"
    path.write_text(f"experiments: !!python/object/apply:os.mkdir ['{tmp_path}/harmed']\n")
    with pytest.raises(InputError, match=r"experiments\.yaml, line 1: not valid YAML: "):
        loader.load_yaml(path, Experiments)
    assert not (tmp_path / "harmed").exists()


def unquoted(source: str) -> list[str]:
    """The paths and texts that a rule's command passes to the shell as they are."""
    commands = re.findall(r"^    shell:\n((?:        .*\n)+)", source, re.M)
    names = r"\{(?:input|output|params|log|wildcards)\b[^}]*\}"
    return [name for c in commands for name in re.findall(names, c) if not name.endswith(":q}")]


def test_a_command_that_is_not_quoted_is_found():
    rule = '    shell:\n        "a {input:q} {output} {wildcards.paper}"\n        " > {log:q}"\n'
    assert unquoted(rule) == ["{output}", "{wildcards.paper}"]


def test_rules_quote_what_they_pass_to_the_shell():
    found = {path.name: unquoted(path.read_text()) for path in RULES}
    # Names of a paper and its tables: their expression allows lower-case letters, digits and "_".
    plain = {"{wildcards.paper}", "{wildcards.table}", "{wildcards.figure}"}
    assert {name: set(left) - plain for name, left in found.items() if set(left) - plain} == {}
    assert sum(path.read_text().count(":q}") for path in RULES) > 30


def modes(folder: Path) -> set[tuple[str, str]]:
    """The kinds and permissions of all that is in a folder."""
    found = [path for path in folder.rglob("*") if not path.is_symlink()]
    return {("folder" if p.is_dir() else "file", oct(p.stat().st_mode & 0o777)) for p in found}


@pytest.fixture
def umask(request):
    """Set the umask for a test."""
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@pytest.mark.parametrize(
    ("umask", "folder", "file"),
    [(0o022, "0o755", "0o644"), (0o027, "0o750", "0o640"), (0o002, "0o775", "0o664")],
    indirect=["umask"],
)
def test_what_is_renamed_into_place_has_the_modes_of_the_umask(tmp_path, umask, folder, file):
    root = tmp_path / "results"
    claim = Entry(root / "store", "0123456789abcdef").claim()
    claim.fail("it failed once", "invocation")
    with claim.result({"identity": "0123456789abcdef"}) as files:
        (files / "weights.safetensors").write_bytes(b"weights")
    claim.entry.copy_result(root / "out", {})
    assert modes(root) == {("folder", folder), ("file", file)}


@pytest.mark.parametrize("umask", [0o027], indirect=True)
def test_a_whole_run_in_a_folder_of_any_name_honours_the_umask(fresh, umask):
    name = """it's "my" $HOME; `touch harmed` & (results)"""
    fresh.snakemake("report", config=(f"results={name}", "experiments=toy_language"))
    results = fresh.root / name
    assert (results / "demo/report.html").is_file()
    assert (results / "demo/tables/toy/losses.csv").is_file()
    assert modes(results) == {("folder", "0o750"), ("file", "0o640")}
    assert not list(fresh.root.rglob("harmed"))
