"""What counts as the code of a run."""

import ast
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from workflow.errors import InputError
from workflow.planning.closure import closure, code_hash

ROOT = Path(__file__).resolve().parents[2]


def write(root, **files):
    """Write modules, `a__b` standing for a/b.py."""
    for name, text in files.items():
        path = root / (name.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))


def changed(root, before, after):
    """Whether two texts of one module have different hashes."""
    write(root, module=before)
    first = code_hash(["module"], root)
    write(root, module=after)
    return first != code_hash(["module"], root)


def test_all_ways_to_import_are_followed(tmp_path):
    write(
        tmp_path,
        start="import json, pack.plain\nfrom pack import member\nfrom pack.sub.deep import f",
        pack__plain="def late():\n    from late import x",
        pack__member="",
        pack__sub__deep="from . import near\nfrom ..other import y\nfrom .near import z",
        pack__sub__near="",
        pack__other="",
        late="",
        unrelated="",
    )
    (tmp_path / "pack/__init__.py").write_text("import inside_init")
    write(tmp_path, inside_init="")
    assert set(closure(["start"], tmp_path)) == {
        "start",
        "pack",
        "pack.plain",
        "pack.member",
        "pack.sub.deep",
        "pack.sub.near",
        "pack.other",
        "late",
        "inside_init",
    }


def test_relative_imports_of_a_package_start_at_the_package(tmp_path):
    write(tmp_path, pack__near="")
    (tmp_path / "pack/__init__.py").write_text("from . import near")
    assert set(closure(["pack"], tmp_path)) == {"pack", "pack.near"}


def test_modules_that_import_each_other_end(tmp_path):
    write(tmp_path, a="import b", b="import a")
    assert set(closure(["a"], tmp_path)) == {"a", "b"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 1", "x = 1  # why"),
        ("x = 1", '"""What."""\nx = 1'),
        ("def f():\n    return 1", 'def f():\n    """What."""\n\n    return 1'),
        ("class A:\n    x = 1", 'class A:\n    """What."""\n    x = 1'),
        ("async def f():\n    return 1", 'async def f():\n    """What."""\n    return 1'),
        ("x = [1, 2]", "x = [\n    1,\n    2,\n]"),
        ("x = 'a'", 'x = "a"'),
        ("x = 'a'", "x = u'a'"),
    ],
)
def test_comments_docstrings_and_layout_do_not_count(tmp_path, before, after):
    assert not changed(tmp_path, before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 1", "x = 2"),
        ("x = 1", "x = True"),
        ("x = 1", "x = 1.0"),
        ("x = None", "x = 0"),
        ("x = 'a'", "x = b'a'"),
        ("f(a, b)", "f(b, a)"),
        ("f(*a)", "f(**a)"),
        ("x = []", "x = {}"),
        ("if a:\n    b()\nc()", "if a:\n    b()\n    c()"),
        ("if a:\n    b()\nelse:\n    c()", "if a:\n    b()\nc()"),
        ("def f(a, /, b): ...", "def f(a, b): ..."),
        ("def f(a, *, b): ...", "def f(a, b): ..."),
        ("x = -y", "x = ~y"),
        ("x = f'{y}'", "x = f'{y!r}'"),
        ("x = f'{y:.1f}'", "x = f'{y:.2f}'"),
        ("match x:\n    case None: y()", "match x:\n    case True: y()"),
        ("x = 1\n'text'", "x = 1"),
        ("import a", "import a as b"),
    ],
)
def test_everything_else_counts(tmp_path, before, after):
    assert changed(tmp_path, before, after)


def test_the_hash_does_not_depend_on_where_the_project_lies(tmp_path):
    write(tmp_path / "here", module="import other", other="x = 1")
    write(tmp_path / "there", module="import other", other="x = 1")
    assert code_hash(["module"], tmp_path / "here") == code_hash(["module"], tmp_path / "there")


def test_two_modules_that_swap_their_code_are_other_code(tmp_path):
    write(tmp_path, a="x = 1", b="x = 2")
    before = code_hash(["a", "b"], tmp_path)
    write(tmp_path, a="x = 2 ", b="x = 1 ")
    assert code_hash(["a", "b"], tmp_path) != before


def test_a_module_that_is_missing_or_broken_is_named(tmp_path):
    with pytest.raises(InputError, match=r'module "absent" has no file absent\.py'):
        code_hash(["absent"], tmp_path)
    write(tmp_path, broken="def f(:\n")
    with pytest.raises(InputError, match=r"broken\.py, line 1: not valid Python"):
        code_hash(["broken"], tmp_path)


def test_an_empty_text_that_one_python_adds_to_f_strings_does_not_count(tmp_path, monkeypatch):
    write(tmp_path, module="x = f'{y:>{z}}'")
    expected = code_hash(["module"], tmp_path)

    def parse_like_3_12(source, filename):
        tree = compile(source, filename, "exec", ast.PyCF_ONLY_AST)
        tree.body[0].value.values[0].format_spec.values.append(ast.Constant(""))
        return tree

    write(tmp_path / "again", module="x = f'{y:>{z}}'")
    monkeypatch.setattr(ast, "parse", parse_like_3_12)
    assert code_hash(["module"], tmp_path / "again") == expected


def interpreters() -> list[str]:
    """A supported Python of each version that this machine has, this one among them."""
    found = {sys.version_info.minor: sys.executable}
    for minor in range(11, 15):
        path = shutil.which(f"python3.{minor}")
        works = path and subprocess.run([path, "-c", ""], capture_output=True).returncode == 0
        if works:
            found.setdefault(minor, path)
    return list(found.values())


def test_the_hash_is_the_same_on_every_supported_python_of_this_machine():
    pythons = interpreters()
    if len(pythons) < 2:
        pytest.skip("this machine has one supported Python, and the hash is compared between two")
    program = (
        "from pathlib import Path; from workflow.planning.closure import code_hash; "
        "print(code_hash(['model.training.loop', 'workflow.scripts.train'], Path('.')))"
    )
    hashes = set()
    for python in pythons:
        done = subprocess.run([python, "-c", program], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        hashes.add(done.stdout)
    assert len(hashes) == 1
