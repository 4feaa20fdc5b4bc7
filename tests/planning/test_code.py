"""What counts as the code of a run: the definitions that its names reach, and all it calls."""

import json
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import torch

from model.kernels.dropout import Dropout
from tests.laboratory.executed import Calls, unseen
from workflow.planning.code import Project
from workflow.planning.identity import TRAINING, measuring_roots, run_roots
from workflow.runtime.errors import InputError

ROOT = Path(__file__).resolve().parents[2]


def write(root: Path, **files: str) -> Path:
    """Write modules, `a__b` standing for a/b.py."""
    for name, text in files.items():
        path = root / (name.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    return root


def code(root: Path, *roots: str) -> str:
    """The hash of the code behind roots, of the files as they are now."""
    return Project(root).hash(roots or ["module:f"])


def changed(root: Path, before: str, after: str) -> bool:
    """Whether two texts of a module have different hashes, for its `f`."""
    first = code(write(root, module=before))
    return first != code(write(root, module=after))


def reached(root: Path, *roots: str) -> set[tuple[str, str]]:
    """What roots reach."""
    return Project(root).reached(roots)


def test_every_way_to_name_a_definition_is_followed(tmp_path):
    write(
        tmp_path,
        start="""
            import json, pack.plain
            import pack.plain as alias
            from pack import member, renamed as again
            from pack.sub.deep import g as h

            def f(x: member.Annotation = member.DEFAULT):
                def late():
                    from late import y
                    return y
                return [pack.plain.a, alias.b, member.c(), again, h, json.loads, late, "late:text"]
        """,
        pack__plain="a = 1\nb = 2\nunused = 3",
        pack__member="DEFAULT = 1\nclass Annotation: ...\ndef c(): return d\nd = 4\nunused = 5",
        pack__sub__deep="from . import near\nfrom ..other import e\ndef g(): return near.n, e",
        pack__sub__near="n = 1",
        pack__other="e = 1",
        late="y = 1\ntext = 2\nunused = 3",
    )
    (tmp_path / "pack/__init__.py").write_text("from pack.home import renamed\nunused = 1")
    write(tmp_path, pack__home="renamed = 1")
    assert reached(tmp_path, "start:f") == {
        *(("start", "f"), ("pack.plain", "a"), ("pack.plain", "b"), ("pack.member", "DEFAULT")),
        *(("pack.member", "c"), ("pack.member", "d"), ("pack.home", "renamed")),
        *(("pack.sub.deep", "g"), ("pack.sub.near", "n"), ("pack.other", "e")),
        *(("late", "y"), ("late", "text")),
    }


def test_a_module_that_is_handed_on_counts_as_a_whole(tmp_path):
    write(tmp_path, module="import other\ndef f(): return g(other)\ndef g(x): return x")
    write(tmp_path, other="a = 1\nb = 2")
    assert reached(tmp_path, "module:f") >= {("other", "a"), ("other", "b")}


def test_what_a_function_binds_is_its_own(tmp_path):
    write(
        tmp_path,
        module="""
            a = b = c = d = e = 1

            def f(a, *b, **c):
                for d in a:
                    d = [e for e in d]
                return lambda g: (b, c, g)

            def g(): ...

            class A:
                a = 2

                def method(self):
                    return a
        """,
    )
    assert reached(tmp_path, "module:f") == {("module", "f")}
    assert reached(tmp_path, "module:A") == {("module", "A"), ("module", "a")}


def test_what_a_comprehension_goes_through_is_not_its_own(tmp_path):
    write(tmp_path, module="x = [1]\ndef f(): return [x for x in x]")
    assert reached(tmp_path, "module:f") == {("module", "f"), ("module", "x")}


def test_what_a_module_does_beyond_defining_counts_for_who_uses_it(tmp_path):
    user = "from other import late\ndef f(): return late"
    write(tmp_path, module=user, other="try:\n    late = 1\nexcept ImportError:\n    late = 2")
    before = code(tmp_path)
    write(tmp_path, other="try:\n    late = 1\nexcept ImportError:\n    late = 3 ")
    assert code(tmp_path) != before


def test_definitions_that_name_each_other_end(tmp_path):
    write(tmp_path, a="import b\ndef f(): return b.g", b="import a\ndef g(): return a.f")
    assert reached(tmp_path, "a:f") == {("a", "f"), ("b", "g")}
    assert code(tmp_path, "a:f") != code(tmp_path, "b:g", "a:f")


SAME = [
    ("def f(): return 1", "def f():\n    return 1  # why"),
    ("def f(): return 1", '"""What."""\ndef f():\n    """Why."""\n    return 1'),
    ("class f:\n    x = 1", 'class f:\n    """What."""\n    x = 1\n    """Of x."""'),
    ("def f(): return 'a'", 'def f(): return u"a"'),
    ("def f(x): return x", "def f(x: int) -> int: return x"),
    ("def f():\n    x = 1", "import torch\ndef f():\n    x = 1"),
    ("def f(): return g()\ndef g(): return 1", "def g(): return 1\ndef f(): return g()"),
    ("def f(): return g()\ndef g(): return 1", "def f(): return h()\ndef h(): return 1"),
    ("def f(): return X\nX = 1", "def f(): return Y\nY = 1"),
    ("def f(): return 1", "def f(): return 1\ndef beside(): return 2\nclass Beside: ..."),
    ("import torch as t\ndef f(): return t.nn", "import torch\ndef f(): return torch.nn"),
    ("def f():\n    x = 1", "if TYPE_CHECKING:\n    import torch\ndef f():\n    x = 1"),
    ("from torch import nn\ndef f(): return nn", "from torch import nn as n\ndef f(): return n"),
]


@pytest.mark.parametrize(("before", "after"), SAME)
def test_what_does_the_same_has_the_same_hash(tmp_path, before, after):
    assert not changed(tmp_path, before, after)


OTHER = [
    ("def f(): return 1", "def f(): return 2"),
    ("def f(): return 1", "def f(): return True"),
    ("def f(): return 1", "def f(): return 1.0"),
    ("def f(): return 'a'", "def f(): return b'a'"),
    ("def f(a, b): g(a, b)", "def f(a, b): g(b, a)"),
    ("def f(*a): ...", "def f(**a): ..."),
    ("def f(a, /, b): ...", "def f(a, b): ..."),
    ("def f(a, *, b): ...", "def f(a, b): ..."),
    ("def f(a=1): ...", "def f(a=2): ..."),
    ("def f(x): return f'{x}'", "def f(x): return f'{x!r}'"),
    ("def f(x): return -x", "def f(x): return ~x"),
    ("def f(): return X\nX = 1", "def f(): return X\nX = 2"),
    ("X = 1\ndef f(): return X", "X = 1\ndef f(): return X\nX += 1"),
    ("def f(): return g()\ndef g(): return 1", "def f(): return g()\ndef g(): return 2"),
    ("def f(): return g, h\ng = 1\nh = 2", "def f(): return h, g\ng = 1\nh = 2"),
    ("import torch as t\ndef f(): return t.nn", "import numpy as t\ndef f(): return t.nn"),
    ("class f:\n    x: int = 1", "class f:\n    x: ClassVar[int] = 1"),
    ("class f(A): ...\nclass A: x = 1", "class f(A): ...\nclass A: x = 2"),
    ("@d\ndef f(): ...\ndef d(g): return g", "@d\ndef f(): ...\ndef d(g): return 1"),
    ("def f(): ...", "import torch\ntorch.set_num_threads(1)\ndef f(): ..."),
    ("def f(x): return x", "def f(y): return y"),
]


@pytest.mark.parametrize(("before", "after"), OTHER)
def test_what_does_something_else_has_another_hash(tmp_path, before, after):
    assert changed(tmp_path, before, after)


def test_a_part_that_a_function_imports_may_move(tmp_path):
    text = "def f():\n    from {0} import g\n    return g"
    here = write(tmp_path / "here", module=text.format("part"), part="def g(): return 1")
    there = write(tmp_path / "there", module=text.format("room.part"), room__part="g = 2")
    other = code(there)
    write(there, room__part="def g(): return 1")
    assert code(here) == code(there) != other


def test_moving_splitting_and_merging_files_change_nothing(tmp_path):
    one = write(
        tmp_path / "one",
        module="import deep.parts\nfrom deep.parts import g\ndef f(): return g(deep.parts.K)",
        deep__parts="K = 3\ndef g(k): return h(k)\ndef h(k): return k",
    )
    split = write(
        tmp_path / "split",
        module="from k import K\nfrom rooms.g import g as named\ndef f(): return named(K)",
        k="K = 3",
        rooms__g="from rooms.h import h\ndef g(k): return h(k)",
        rooms__h="def h(k): return k",
    )
    merged = write(
        tmp_path / "merged",
        home="def h(k): return k\nK = 3\ndef f(): return g(K)\ndef g(k): return h(k)",
    )
    assert code(one) == code(split) == code(merged, "home:f")


def test_the_order_of_roots_counts_and_so_does_a_root_that_comes_twice(tmp_path):
    write(tmp_path, module="def f(): return 1\ndef g(): return 2")
    hashes = [
        code(tmp_path, *(f"module:{name}" for name in names))
        for names in ("fg", "gf", "f", "ff", "fgf")
    ]
    assert len(set(hashes)) == 5


def test_what_cannot_be_followed_is_named(tmp_path):
    with pytest.raises(InputError, match=r'module "absent" has no file absent\.py'):
        code(tmp_path, "absent:f")
    write(tmp_path, broken="def f(:\n", module="x = 1", star="from module import *\ndef f(): ...")
    with pytest.raises(InputError, match=r"broken\.py, line 1: not valid Python"):
        code(tmp_path, "broken:f")
    with pytest.raises(InputError, match='module "module" defines no "f"'):
        code(tmp_path, "module:f")
    with pytest.raises(InputError, match=r"star\.py, line 1: import \* hides what is used"):
        code(tmp_path, "star:f")


PUBLISHED = [
    json.loads(line)
    for path in ROOT.glob("docs/reproduction/*/runs/*.jsonl")
    for line in path.read_bytes().splitlines()
]


def test_a_class_beside_those_of_every_file_makes_no_published_run_another(tmp_path):
    roots = {run_roots(run["spec"]) for run in PUBLISHED}
    project = Project(ROOT)
    before = {each: project.hash(each) for each in roots}
    shutil.copytree(ROOT / "model", tmp_path / "model")
    for path in (tmp_path / "model").rglob("*.py"):
        path.write_text(f"{path.read_text()}\n\nclass Unused:\n    pass\n")
    assert len(before) > 40
    changed = Project(tmp_path)
    assert {each: changed.hash(each) for each in roots} == before


def test_nothing_of_the_models_code_is_hidden_from_the_hash():
    """Modules define names and do no more, but for a program that no run reaches."""
    import ast

    project = Project(ROOT)
    for path in sorted((ROOT / "model").rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        module = project.module(name)
        if name == "workflow.lent.runner":
            continue
        assert module is not None and "" not in module.defined, f"{path} does more than define"
        twice = [bound for bound, statements in module.defined.items() if len(statements) > 1]
        assert not twice, f"{path} defines {twice} twice"
        for node in ast.walk(ast.parse(path.read_text())):
            assert not isinstance(node, ast.Global), f"{path}, line {node.lineno}"
            called = getattr(getattr(node, "func", None), "id", "")
            assert called not in ("eval", "exec", "globals", "__import__"), f"{path}: {called}"


def test_what_is_imported_by_a_name_made_at_run_time_is_a_root():
    found = {p.name for p in (ROOT / "workflow").rglob("*.py") if "import_module" in p.read_text()}
    # A recipe's dataset, a figure's function; forks and the runner import libraries, a check what
    # it tries, a side of a proof a tree. What no job runs needs no root: the program its command.
    libraries = {"fork_server.py", "runner.py", "parts.py", "side.py"}
    assert found == {"recipe.py", "drawing.py", "__main__.py"} | libraries


def interpreters() -> list[str]:
    """A supported Python of each version that this machine has, this one among them."""
    found = {sys.version_info.minor: sys.executable}
    for minor in range(11, 15):
        path = shutil.which(f"python3.{minor}")
        works = path and subprocess.run([path, "-c", ""], capture_output=True).returncode == 0
        if works and path:
            found.setdefault(minor, path)
    return list(found.values())


def test_the_hash_is_the_same_on_every_supported_python_of_this_machine():
    pythons = interpreters()
    if len(pythons) < 2:
        pytest.skip("this machine has one supported Python, and the hash is compared between two")
    roots = [list(run_roots(run["spec"])) for run in PUBLISHED[::40]]
    roots += [list(measuring_roots({"path": "model.probes.fields.spans:spans"}))]
    program = (
        "from pathlib import Path; from workflow.planning.code import Project; "
        f"project = Project(Path('.')); print([project.hash(roots) for roots in {roots}])"
    )
    hashes = set()
    for python in pythons:
        done = subprocess.run([python, "-c", program], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        hashes.add(done.stdout)
    assert len(hashes) == 1


def test_what_is_called_is_noted_by_module_and_outermost_name():
    calls = Calls()
    dropout = Dropout(0.5)
    sys.setprofile(calls)
    try:
        dropout(torch.ones(2, 2))
    finally:
        sys.setprofile(None)
    assert calls.found == {("model.kernels.dropout", "Dropout")}


def test_a_call_that_no_root_reaches_is_told():
    called = {
        ("model.training.loop", "train"),
        ("model.kernels.dropout", "Dropout"),
        ("model.batches.corpus", "Corpus"),
    }
    assert unseen(called, TRAINING) == {("model.kernels.dropout", "Dropout")}
    assert unseen(called, [*TRAINING, "model.architectures.transformer:Transformer"]) == set()
