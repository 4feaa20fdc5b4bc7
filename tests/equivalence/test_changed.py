"""What a change of code has to be shown to leave alone: its statements, and what was exchanged."""

import ast
import random
import re
import shutil
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from workflow.equivalence.changed import CodeChange, changes
from workflow.equivalence.statements import SourceSpan
from workflow.planning.code import Project
from workflow.runtime.errors import InputError

ROOT = Path(__file__).resolve().parents[2]
Code = str | Mapping[str, str]
"""Modules by name, `a.b` standing for a/b.py; a text alone is the module `m`."""
Change = str | tuple[Code, Code]
"""Code before and after, or one text in which `«a|b»` is a before and b after."""


def write(root: Path, code: Code) -> Path:
    """Write modules into a folder."""
    for name, text in modules(code).items():
        path = root / file_of(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def modules(code: Code) -> dict[str, str]:
    """The text of each module."""
    named = {"m": code} if isinstance(code, str) else code
    return {name: textwrap.dedent(text) for name, text in named.items()}


def file_of(module: str) -> str:
    return module.replace(".", "/") + ".py"


def versions(change: Change) -> tuple[Code, Code]:
    """The code before and after a change."""
    if isinstance(change, tuple):
        return change
    before, after = (re.sub(r"(?s)«(.*?)\|(.*?)»", rf"\{n}", change) for n in (1, 2))
    return before, after


def difference(
    folder: Path, before: Code, after: Code, root: str = "m:f", new_root: str = ""
) -> CodeChange:
    """What changed between two versions."""
    old, new = write(folder / "old", before), write(folder / "new", after)
    return changes(Project(old), [root], Project(new), [new_root or root])


def marked(code: Code, *marks: str) -> set[tuple[str, int]]:
    """File and number of each line that ends in a comment of one of some marks."""
    return {
        (file_of(name), number)
        for name, text in modules(code).items()
        for number, line in enumerate(text.splitlines(), 1)
        if line.partition("#")[2].strip() in marks
    }


def lines(places: tuple[SourceSpan, ...]) -> set[tuple[str, int]]:
    return {(place.file, place.first) for place in places}


def grouped(groups: tuple[tuple[SourceSpan, ...], ...]) -> set[tuple[str, int]]:
    return {line for group in groups for line in lines(group)}


def check(change: CodeChange, before: Code, after: Code, *values: str) -> None:
    """Compare a change with marks: `!` a CPU runs it, `gpu`, `both`, `any` reads what changed."""
    assert lines(change.old) == marked(before, "!", "both")
    assert lines(change.new) == marked(after, "!", "both")
    assert lines(change.gpu_old) == marked(before, "gpu", "both")
    assert lines(change.gpu_new) == marked(after, "gpu", "both")
    assert grouped(change.old_any) == marked(before, "any")
    assert grouped(change.new_any) == marked(after, "any")
    assert {f"{each.old_text} -> {each.new_text}" for each in change.values} == {*values}


CHANGED: dict[str, Change] = {
    "a sum in another order": "def f(a, b):\n    c = a * b\n    return «a|c» + b + «c|a»  #!",
    "a product of sums that changed places": (
        "def f(a, b):\n    return a * 2 + b * 3  #!",
        "def f(a, b):\n    return b * 3 + a * 2  #!",
    ),
    "names that changed places before they are bound": (
        "def f(s):\n    for _ in s:\n        s.z(x * 2 + y * 3)  #!\n        x, y = s.a, s.b",
        "def f(s):\n    for _ in s:\n        s.z(y * 3 + x * 2)  #!\n        x, y = s.a, s.b",
    ),
    "of places that are alike, one that moved": (
        "def f(x):\n    x.h(1)  #!\n    x.h(2)  #!\n    x.g()\n    x.k()",
        "def f(x):\n    x.g()\n    x.k()\n    x.h(2)  #!",
    ),
    "a class that something is only compared with": """
        def f(x):
            return 1 if isinstance(x, (C, D)) or issubclass(x.kind, C) else D()
        class C:
            def g(self, y): return y «* 2|+ y»
        class D:
            def g(self, y): return y «* 3|+ y + y»  #!
    """,
    "a class that is compared with where another is made of it": """
        def f(x):
            return isinstance(x, C) and D()
        class C:
            def g(self, y): return y «* 2|+ y»  #!
        class D(C): pass
    """,
    "a loop that is unrolled": (
        """
            def f(x, a):
                for i in range(2):  #!
                    x += a[i]  #!
                return x
        """,
        """
            def f(x, a):
                x += a[0]  #!
                x += a[1]  #!
                return x
        """,
    ),
    "a value that is kept": (
        """
            def f(x):
                y = g(x) + 1  #!
                return y * g(x)  #!
            def g(x): return x
        """,
        """
            def f(x):
                kept = g(x)  #!
                y = kept + 1  #!
                return y * kept  #!
            def g(x): return x
        """,
    ),
    "a definition that is split": (
        """
            def f(x):
                y = x + 1  #!
                z = y * 2  #!
                return z
        """,
        """
            def f(x):
                z = part(x)  #!
                return z
            def part(x):  #!
                y = x + 1  #!
                return y * 2  #!
        """,
    ),
    "definitions that become one": (
        {
            "m": "from n import g\ndef f(x): return g(x)  #!",
            "n": "def g(x): #!\n  return x + 1  #!",
        },
        "def f(x): return x + 1  #!",
    ),
    "names that changed places": "def f(a, b):\n    return «a - b|b - a»  #!",
    "statements that changed places": (
        "def f(a):\n    a.x()\n    a.y()  #!\n    return a",
        "def f(a):\n    a.y()  #!\n    a.x()\n    return a",
    ),
    "a local name that is renamed": "def f(a):\n    «b|c» = a + 1  #!\n    return «b|c»  #!",
    "another callee": (
        "def f(x):\n    return «g|h»(x) + 1  #!\ndef «g|h»(x): #!\n    return «x|x.y»  #!"
    ),
    "another library": "from «math|numpy» import exp\ndef f(x):\n    return exp(x)  #!",
    "a statement that leaves its block": (
        "def f(a):\n    if a:\n        a.x()«\n        |\n    »a.y()  #!"
    ),
    "a statement that goes to the other branch": (
        "def f(a):\n    if a:\n        a.x()\n        a.y()  #!\n    else:\n        a.z()",
        "def f(a):\n    if a:\n        a.x()\n    else:\n        a.y()  #!\n        a.z()",
    ),
    "a default value": "def f(a, b=«c.x|c.y»):  #!\n    return a",
    "a decorator": "@«a|b»  #!\ndef f(x):\n    return x",
    "a method": (
        "class f:\n    def a(self):\n        return self.«b|c»()  #!\n    def b(self): return 1"
    ),
    "a method that is added": (
        "class f:\n    def a(self): return 1«|\n    def b(self):  #!\n        return 2  #!»"
    ),
    "a base": "class f(«A|B»):  #!\n    def a(self): return 1",
    "a function in a function": (
        "def f(x):\n    def g(y):\n        return «x + y|y + x»  #!\n    return g"
    ),
    "an import of a library in a function": (
        "def f(x):\n    from «math|numpy» import exp  #!\n    return exp(x)  #!"
    ),
    "a handler": (
        "def f(x):\n    try:\n        x()\n    except KeyError:  #!\n        return None",
        "def f(x):\n    try:\n        x()\n    except IndexError:  #!\n        return None",
    ),
    "a context": "def f(x):\n    with «x.a|x.b»():  #!\n        return x",
    "a condition before an error": (
        "def f(x):\n    «|if x.bad:  #!\n        raise ValueError('bad')\n    »return x"
    ),
    "an error that becomes a value": (
        "def f(x):\n    if x.bad:\n        «raise ValueError|return x.y  #!»\n    return x"
    ),
    "an assertion": "def f(x):\n    assert «x.a|x.b»  #!\n    return x",
    "what a text takes in": "def f(x):\n    say(f'{«x.a|x.b»} done')  #!",
    "a case": "def f(x):\n    match x:\n        case A(«a|b»=1):  #!\n            return x",
    "a constant of the module": (
        "from math import sqrt\nX = sqrt(2)\ndef f(x):\n    y = X  #any\n    return x * X  #any",
        "X = 2 ** 0.5\ndef f(x):\n    y = X  #any\n    return x * X  #any",
    ),
    "a constant of a constant": (
        {"m": "from n import Y\ndef f(x):\n    return x * Y  #any", "n": "X = a()\nY = X + 1"},
        {"m": "from n import Y\ndef f(x):\n    return x * Y  #any", "n": "X = b()\nY = X + 1"},
    ),
    "a constant that a local name hides": (
        "X = «a|b»()\ndef f(x):\n    def g(X):\n        return X\n    return X  #any"
    ),
    "a constant that a local name hides further inside": (
        "X = «a|b»()\ndef f(x):\n    def h(X):\n        def g(): return X\n    return X  #any"
    ),
    "an attribute that is set from itself": (
        "class f:\n    x = «a|b»()\n    y = x\n    y = y + 1\n    def g(self): return self.y  #any"
    ),
    "an attribute of a class": (
        "class f:\n    y = a()\n    def g(self):\n        x = self.x\n        return self.y  #any",
        "class f:\n    y = b()\n    def g(self):\n        x = self.x\n        return self.y  #any",
    ),
    "an attribute behind an attribute": (
        "class f:\n    x = «a|b»()\n    y = x + 1\n    def g(self):\n        return self.y  #any"
    ),
    "an attribute that is set, not read": (
        "class f:\n    x = «a|b»()\n    def g(self):\n        self.x = 1\n        self.x += 1  #any"
    ),
    "what a module does when it is imported": (
        "import c\ntry:\n    X = «c.a|c.b»()  #!\nexcept ImportError:\n    X = 1\ndef f(): return X"
    ),
}


@pytest.mark.parametrize("name", CHANGED)
def test_statements_that_changed_are_listed(tmp_path, name):
    before, after = versions(CHANGED[name])
    check(difference(tmp_path, before, after), before, after)
    if "places" not in name:  # either of two may be the one that moved
        check(difference(tmp_path / "back", after, before), after, before)


def function(statement: str) -> str:
    """A function of a statement that changed."""
    return f"def f(x, y, s):\n    before = x\n    {statement}  #!\n    return before"


VALUES = [
    ("z = x + 1e-6", "z = x + 1e-5", "1e-06 -> 1e-05"),
    ("z = x[1:]", "z = x[2:]", "1 -> 2"),
    ("z = x(True)", "z = x(False)", "True -> False"),
    ("z = x(None)", "z = x(0)", "None -> 0"),
    ("z = x(1)", "z = x(1.0)", "1 -> 1.0"),
    ("z = x('mean')", "z = x('sum')", "'mean' -> 'sum'"),
    ("z = f'{x:.1f}'", "z = f'{x:.2f}'", "'.1f' -> '.2f'"),
    ("z = x < y", "z = x <= y", "x < y -> x <= y"),
    ("z = x is y", "z = x is not y", "x is y -> x is not y"),
    ("z = x + y", "z = x - y", "x + y -> x - y"),
    ("z = x & y", "z = x | y", "x & y -> x | y"),
    ("s += y", "s -= y", "s += y -> s -= y"),
    ("z = x and y", "z = x or y", "x and y -> x or y"),
    ("z = -x", "z = x", "-x -> x"),
    ("z = x(y)", "z = x(-y)", "y -> -y"),
    ("z = -x", "z = ~x", "-x -> ~x"),
    ("z = x[-1]", "z = x[0]", "-1 -> 0", "1 -> 0"),
    ("z = not x", "z = x", "not x -> x"),
    ("z = [y for y in x if y]", "z = [y for y in x if not y]", "y -> not y"),
    ("z = lambda y: y > 0", "z = lambda y: y >= 0", "y > 0 -> y >= 0"),
    ("while not x: pass", "while x: pass", "not x -> x"),
    ("z = x + 1", "w = x + 2", "1 -> 2"),
    ("z = [y + 1 for y in x]", "z = [k + 2 for k in x]", "1 -> 2"),
    ("assert x > 0", "assert x >= 0", "x > 0 -> x >= 0"),
    ("raise ValueError('a')", "raise KeyError('a')", "ValueError -> KeyError"),
]


@pytest.mark.parametrize(("before", "after", "values"), [(a, b, v) for a, b, *v in VALUES])
def test_what_was_exchanged_is_a_value(tmp_path, before, after, values):
    old, new = function(before), function(after)
    if before.startswith("raise"):
        old, new = old.replace("#!", ""), new.replace("#!", "")
    change = difference(tmp_path, old, new)
    check(change, old, new, *values)
    assert all(
        each.place_old == each.place_new == SourceSpan("m.py", 3, 3, "f") for each in change.values
    )


VALUES_ELSEWHERE: dict[str, tuple[Change, str]] = {
    "a default value": ("def f(x, eps=«1e-6|1e-5»):  #!\n    return x", "1e-06 -> 1e-05"),
    "an attribute of a class": (
        "class f:\n    x = «1|2»\n    def g(self):\n        return self.x  #any",
        "1 -> 2",
    ),
    "a constant of the module": ("X = «1|2»\ndef f(x):\n    return x + X  #any", "1 -> 2"),
    "beside a statement that is added": (
        "def f(x):«|\n    x = x.g()  #!»\n    y = x + «1e-6|1e-5»  #!\n    return y",
        "1e-06 -> 1e-05",
    ),
    "in a statement that moved": (
        "def f(x):\n    «|x.g()\n    »x.h(«1|2»)  #!\n    «x.g()\n    |»return x",
        "1 -> 2",
    ),
    "in a part that was split off": (
        (
            "def f(x):\n    x.h(1, 'a')  #!\n    return x",
            "def f(x):\n    g(x)  #!\n    return x\ndef g(x):  #!\n    x.h(2, 'a')  #!",
        ),
        "1 -> 2",
    ),
    "where names are renamed alike": (
        "def f(a):\n    «b|c» = a + «1|2»  #!\n    return «b * b|c * c»  #!",
        "1 -> 2",
    ),
    "in a renamed function": (
        "def f(x):\n    return «g|h»(x)  #!\ndef «g|h»(x): #!\n    return x «>|>=» 1  #!",
        "x > 1 -> x >= 1",
    ),
    "where a GPU alone runs it": (
        "def f(x):\n    if x.is_cuda:\n        return x + «1|2»  #gpu\n    return x",
        "1 -> 2",
    ),
}


@pytest.mark.parametrize("name", VALUES_ELSEWHERE)
def test_a_value_is_found_wherever_it_is(tmp_path, name):
    change, value = VALUES_ELSEWHERE[name]
    before, after = versions(change)
    check(difference(tmp_path, before, after), before, after, value)


def test_two_values_of_a_definition_are_two(tmp_path):
    before = "def f(x):\n    y = x > 1  #!\n    return y + x\n"
    change = difference(tmp_path, before, before.replace("> 1", ">= 2"))
    check(change, before, before, "x > 1 -> x >= 2", "1 -> 2")


SAME: dict[str, Change] = {
    "a comment": ("def f(): return 1", "def f(): return 1  # why"),
    "docstrings": (
        "class f:\n    def g(self): return 1",
        '"""A."""\nclass f:\n    """B."""\n    def g(self):\n        """C."""\n        return 1',
    ),
    "annotations": (
        "def f(x):\n    y = x\n    return y",
        "def f(x: int) -> int:\n    z: int\n    y: int = x\n    return y",
    ),
    "a statement that does nothing": ("def f(x): pass", "def f(x):\n    '''A.'''"),
    "the text of an error": (
        "def f(x):\n    if x:\n        raise ValueError(«'a'|f'b {x}'»)«| from None»"
    ),
    "an error that is added": "def f(x):\n    if x:\n        return 1«|\n    raise ValueError»",
    "the message of an assertion": "def f(x):\n    assert x«|, 'a'»",
    "a text for people": (
        "class f:\n    def g(self):\n        self.say('«a|b»')\n        say(f'«b |»{self}«| c»')"
    ),
    "a renamed function": (
        "def f(x): return «g|a»(x)\ndef «g|a»(x): return «h|b»(x)\ndef «h|b»(x): return x"
    ),
    "a function that calls itself": "def f(x): return «g|h»(x)\ndef «g|h»(x): return «g|h»(x - 1)",
    "definitions that do the same": (
        "def f(x): return A.x, B.x\nA = g(1)\nB = g(1)\ndef g(x): return x",
        "def f(x): return C.x, D.x\nC = g(1)\nD = g(1)\ndef g(x): return x",
    ),
    "a renamed constant": ("def f(): return X\nX = 1", "def f(): return Y\nY = 1"),
    "a renamed class": "def f(): return «A|B»()\nclass «A|B»:\n    x = 1",
    "a file that moved": (
        {"m": "from n import g\ndef f(x): return g(x)", "n": "def g(x): return 'n:h'\nh = 1"},
        {"m": "import a.n\ndef f(x): return a.n.g(x)", "a.n": "def g(x): return 'a.n:h'\nh = 1"},
    ),
    "definitions that do the same and moved": (
        {"m": "import k, n\ndef f(): return k.A, n.B", "k": "A = 1", "n": "B = 1"},
        {"m": "import l, o\ndef f(): return o.A, l.B", "l": "B = 1", "o": "A = 1"},
    ),
    "a part that a function imports": (
        {"m": "def f():\n    from n import g\n    return g", "n": "g = 1"},
        {"m": "from o import g\ndef f():\n    return g", "o": "g = 1"},
    ),
    "definitions beside": ("def f(): return 1", "def f(): return 1\ndef g(): return 2\nX = 1"),
}


@pytest.mark.parametrize("name", SAME)
def test_what_does_the_same_is_no_change(tmp_path, name):
    before, after = versions(SAME[name])
    assert difference(tmp_path, before, after) == CodeChange()
    assert difference(tmp_path / "back", after, before) == CodeChange()


def test_a_root_that_is_renamed_corresponds_by_its_place(tmp_path):
    before = "def f(x, y=1):  #!\n    return x.a  #!\ndef other(x): return x"
    after = "def other(x, y=2):  #!\n    return x.b  #!\ndef f(x): return x"
    check(difference(tmp_path, before, after, "m:f", "m:other"), before, after, "1 -> 2")


def test_roots_in_another_order_differ(tmp_path):
    root = write(tmp_path, "def f(): return a\ndef g(): return b")
    change = changes(Project(root), ["m:f", "m:g"], Project(root), ["m:g", "m:f"])
    assert {place.name for place in change.old} == {"f", "g"}


def test_a_root_that_is_added_is_new_as_a_whole(tmp_path):
    root = write(tmp_path, "def f(): return 1\ndef g():\n    x = 2\n    return x")
    change = changes(Project(root), ["m:f"], Project(root), ["m:f", "m:g"])
    assert change == CodeChange(new=tuple(SourceSpan("m.py", n, n, "g") for n in (2, 3, 4)))


def test_a_root_that_is_absent_is_named(tmp_path):
    with pytest.raises(InputError, match='defines no "g"'):
        difference(tmp_path, "def f(): ...", "def f(): ...", "m:f", "m:g")


def test_a_place_is_the_lines_of_a_statement_and_of_a_compound_one_the_header(tmp_path):
    before = "def f(): return 1"
    after = """
        def f():
            return g

        @a
        @b(
            1
        )
        def g(
            x,
            y,
        ):
            # why
            '''What.'''
            if x and (
                y
            ):
                return [
                    x,
                ]
            elif y: z = 1; return z
            else:
                try:
                    x()
                except KeyError:
                    pass
                finally:
                    with x(), \\
                            y():
                        x()
    """
    change = difference(tmp_path, before, after)
    places = {(place.first, place.last) for place in change.new if place.name == "g"}
    assert places == {
        *((5, 13), (15, 17), (18, 20), (21, 21), (23, 23), (24, 24), (25, 25), (28, 29), (30, 30))
    }


def test_what_reads_several_constants_is_a_group_for_each(tmp_path):
    before = "X = a()\nY = a()\nZ = 1\ndef f(x):\n    x += X\n    x += X + Y\n    return Z\n"
    change = difference(tmp_path, before, before.replace("a()", "b()"))
    first, second = SourceSpan("m.py", 5, 5, "f"), SourceSpan("m.py", 6, 6, "f")
    assert change.old_any == change.new_any == ((first, second), (second,))


def test_a_constant_that_nothing_is_seen_to_read_is_an_empty_group(tmp_path):
    change = difference(tmp_path, "class f:\n    x = 1", "class f:\n    x = 1\n    y = 2")
    assert change == CodeChange(new_any=((),))


TESTS = [  # a test, and whether a GPU alone runs the body, the other branch
    ("x.is_cuda", True, False),
    ("q.x.is_cuda", True, False),
    ("not x.is_cuda", False, True),
    ("x.is_cpu", False, True),
    ("x.device.type == 'cuda'", True, False),
    ("self.device.type == 'cuda'", True, False),
    ("device.type == 'cuda'", True, False),
    ("device.type != 'cuda'", False, True),
    ("device.type == 'cpu'", False, True),
    ("x.device.type != 'cpu'", True, False),
    ("not x.device.type != 'cpu'", False, True),
    ("device == torch.device('cpu')", False, True),
    ("device == CPU", False, True),
    ("torch.cuda.is_available()", True, False),
    ("not torch.cuda.is_available()", False, True),
    ("x.is_cuda and isinstance(x, y) and not z", True, False),
    ("z is None and x.is_cuda", True, False),
    ("x.is_cuda or z", False, False),
    ("x.is_cuda or z.is_cuda", True, False),
    ("x.is_cpu or z % 8 == 7", False, True),
    ("x.is_cpu and z", False, False),
    ("not (x.is_cpu or z)", True, False),
    ("z is None and fused", True, False),
    ("not fused", False, True),
    ("cpu", False, True),
    ("argument", False, False),
    ("twice", False, False),
    ("z.type == 'cuda'", False, False),
    ("x.device.type == 'meta'", False, False),
    ("x.device.type == z.device.type", False, False),
    ("z", False, False),
]


def branches(test: str, body: str, other: str, leave: str = "") -> str:
    """A function with a test; without an `else` where its body leaves."""
    rest = f"    w = {other}" if leave else f"    else:\n        w = {other}"
    mark = "\n        " + leave if leave else ""
    return f"""import torch
CPU = torch.device("cpu")
def f(self, q, x, y, z, device, argument):
    fused = x.is_cuda and y
    cpu = x.is_cpu
    argument = x.is_cuda
    twice = y
    twice = x.is_cuda
    for _ in x:
      if {test}:
        w = {body}{mark}
  {rest}
    return w
"""


@pytest.mark.parametrize(("test", "body", "other"), TESTS)
@pytest.mark.parametrize("leave", ["", "return w"])
def test_what_a_gpu_alone_runs_is_apart(tmp_path, test, body, other, leave):
    def mark(alone: bool) -> str:
        return "#gpu" if alone else "#!"

    plain = branches(test, "x", "y", leave)
    for alone, version in (
        (body, branches(test, f"x.a  {mark(body)}", "y", leave)),
        (other, branches(test, "x", f"y.a  {mark(other)}", leave)),
    ):
        change = difference(tmp_path / str(alone), version.replace(".a", ".b"), version)
        check(change, version, version)
        assert change != CodeChange()
        assert difference(tmp_path / "none", plain, plain) == CodeChange()


@pytest.mark.parametrize("leave", ["continue", "break", "raise ValueError", "return"])
def test_what_follows_a_cpus_block_is_a_gpus_if_nothing_goes_on(tmp_path, leave):
    version = branches("x.is_cpu", "x", "y.a  #gpu", leave)
    check(difference(tmp_path, version, version.replace(".a", ".b")), version, version)


ON_DEVICES = {
    "what follows a block that both branches leave": """
            def f(x, y):
                if x.is_cpu:
                    if y:
                        return 1
                    else:
                        return 2
                return x.a  #gpu
    """,
    "what follows where the other branch leaves": (
        "def f(x):\n    if x.is_cuda: x()\n    else:\n        return\n    return x.a  #gpu"
    ),
    "what follows a body that may go on": (
        "def f(x, y):\n    if x.is_cpu:\n        if y:\n            return 1\n    return x.a  #!"
    ),
    "blocks in a block": (
        "def f(x):\n    if x.is_cuda:\n        for y in x:\n            x.a()  #gpu"
    ),
    "a function that only a GPU calls": """
            def f(device):
                if device.type == "cpu":
                    return c
                def g():
                    x.a()  #gpu
                return g
    """,
    "a loop": "def f(x):\n    while x.is_cuda:\n        x.a()  #gpu",
    "an expression that asks for the device": "def f(x):\n    return x if x.is_cpu else x.a  #both",
    "a test that asks for it": "def f(x):\n    if x.is_cuda and x.a:  #both\n        x()",
    "a name for a test": (
        "def f(x):\n    fused = x.is_cuda and x.a  #both\n    if fused:\n        x()"
    ),
    "a name that is bound in a function inside": (
        "c = 1\ndef f(x):\n    def g():\n        c = x.is_cuda\n    if c:\n        return x.a  #!"
    ),
    "a constant that a GPU reads": (
        "X = x.a()\ndef f(x):\n    if x.is_cuda:\n        return X  #gpu"
    ),
}


@pytest.mark.parametrize("name", ON_DEVICES)
def test_a_statement_of_a_gpu_is_found_wherever_it_is(tmp_path, name):
    version = ON_DEVICES[name]
    check(difference(tmp_path, version, version.replace(".a", ".b")), version, version)


def test_a_constant_that_both_read_is_a_group_and_a_place_of_a_gpu(tmp_path):
    before = "X = a()\ndef f(x):\n    if x.is_cuda:\n        return X\n    return -X\n"
    change = difference(tmp_path, before, before.replace("a()", "b()"))
    assert change.old == () and lines(change.gpu_old) == {("m.py", 4)}
    assert change.old_any == ((SourceSpan("m.py", 5, 5, "f"),),)


# The real tree.


@pytest.fixture(scope="module")
def real() -> Project:
    return Project(ROOT)


@pytest.fixture(scope="module")
def copied(tmp_path_factory) -> Path:
    """A copy of `model/` without comments, in another layout of lines."""
    root = tmp_path_factory.mktemp("copied")
    shutil.copytree(ROOT / "model", root / "model", ignore=shutil.ignore_patterns("*.pyc"))
    for path in root.rglob("*.py"):
        path.write_text(ast.unparse(ast.parse(path.read_text())))
    return root


def definitions(root: Path) -> list[tuple[Path, str]]:
    """File and name of the functions and classes of `model/`."""
    return [
        (path, node.name)
        for path in sorted((root / "model").rglob("*.py"))
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    ]


def exchange(
    real: Project, copied: Path, generator: random.Random, edit: Callable[[ast.AST], bool]
) -> tuple[str, CodeChange]:
    """Edit a definition that can be; return its name, and what changed of what it reaches."""
    for path, name in generator.sample(definitions(copied), 100):
        text = path.read_text()
        tree = ast.parse(text)
        (definition,) = [node for node in tree.body if getattr(node, "name", "") == name]
        if edit(definition):
            path.write_text(ast.unparse(tree))
            root = root_of(path, name, copied)
            try:
                return name, changes(real, [root], Project(copied), [root])
            finally:
                path.write_text(text)
    raise AssertionError("no definition can be edited")


def root_of(path: Path, name: str, root: Path) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts) + f":{name}"


def leaves(node: ast.AST) -> Iterator[ast.AST]:
    """Constants and what has an operator, but for what makes no number."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns") or isinstance(node, ast.Raise | ast.Assert):
            continue
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant | ast.Call):
                continue  # documents, or may be for people
            if isinstance(part, ast.AST):
                yield from leaves(part)
    operators = ast.UnaryOp | ast.BinOp | ast.AugAssign | ast.BoolOp | ast.Compare
    if isinstance(node, operators) or (isinstance(node, ast.Constant) and node.value is not ...):
        yield node


def mutate(node: ast.AST, generator: random.Random) -> None:
    """Exchange a constant, an operator, a comparison or a sign for another."""
    match node:
        case ast.Constant(value=bool() as value):
            node.value = not value
        case ast.Constant(value=int() | float() as value):
            node.value = generator.choice([value + 1, value * 2 + 3])
        case ast.Constant(value=None):
            node.value = 0
        case ast.Constant(value=value):
            node.value = value[:0].join([value, value[:1] or "x"])
        case ast.UnaryOp():
            node.op = ast.Invert() if isinstance(node.op, ast.USub) else ast.USub()
        case ast.BoolOp():
            node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        case ast.Compare():
            kinds = [ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq, ast.In, ast.Is]
            place = generator.randrange(len(node.ops))
            others = [kind for kind in kinds if not isinstance(node.ops[place], kind)]
            node.ops[place] = generator.choice(others)()
        case ast.BinOp() | ast.AugAssign():
            kinds = [ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Pow]
            node.op = generator.choice([k for k in kinds if not isinstance(node.op, k)])()


def test_the_layout_of_the_real_tree_is_no_change(real, copied):
    roots = [root_of(path, name, ROOT) for path, name in definitions(ROOT)]
    assert len(roots) > 300
    new = Project(copied)
    assert changes(real, roots, new, roots) == CodeChange()


@pytest.mark.parametrize("seed", range(100))
def test_a_value_of_the_real_tree_is_never_exchanged_unseen(real, copied, seed):
    generator = random.Random(seed)

    def edit(definition: ast.AST) -> bool:
        found = [*leaves(definition)]
        if found:
            mutate(generator.choice(found), generator)
        return bool(found)

    name, change = exchange(real, copied, generator, edit)
    assert {each.place_new.name for each in change.values} == {name}


@pytest.mark.parametrize("seed", range(15))
def test_a_statement_of_the_real_tree_never_goes_unseen(real, copied, seed):
    generator = random.Random(seed)

    def edit(definition: ast.AST) -> bool:
        bodies = [node.body for node in ast.walk(definition) if hasattr(node, "body")]
        found = [
            (body, place)
            for body in bodies
            for place, node in enumerate(body if isinstance(body, list) else ())
            if isinstance(node, ast.Assign | ast.Return | ast.If | ast.For | ast.FunctionDef)
        ]
        if found:
            body, place = generator.choice(found)
            body[place] = ast.Expr(ast.Call(ast.Name("another"), [], []))
        return bool(found)

    name, change = exchange(real, copied, generator, edit)
    assert {place.name for place in change.new + change.gpu_new} == {name}
