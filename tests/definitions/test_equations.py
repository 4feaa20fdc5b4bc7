"""docs/equations.md is today's, and a planted mistake in what it is made of is told."""

import re
from pathlib import Path

import pytest

from workflow.__main__ import main
from workflow.commands import equations
from workflow.definitions.equations import FILE, check, citations, places
from workflow.definitions.paper import Paper
from workflow.runtime.errors import InputError

KEYS = ("snell2021", "zhao2019")
NUMBERED = {
    "kinley2020": 1,
    "discrete2020": 1,
    "zhao2019": 15,
    "weissenborn2019": 8,
    "snell2021": 55,
}
"""Equations that the papers number; the one of kinley2020 is 3.1."""
CODE = '''"""A file (snell2021 section 3.1; zhao2019 section 2)."""

LIMIT = 5
"""The 5 % of snell2021 section
3.1."""


class Model:
    """What `snell2021 eq. 9` is not; as in Vaswani et al. (2017), section 3.2."""

    def attend(self):
        """Attend (snell2021 eq. 1, 2, appendix A.10; zhao2019 eq. 2, 1)."""
'''
LISTED = """reference\twhat\tabsent
snell2021 eq. 1\tattention\t
snell2021 eq. 2\tcontext\t
snell2021 eq. 3\tprobe\tbackground
snell2021 section 3.1\tagreement\t
snell2021 appendix A.10\tregression\t
zhao2019 eq. 1\tscores\t
zhao2019 eq. 2\tmask\t
zhao2019 section 2\ttransformer\t
"""
TEST = '"""Tests."""\n\ndef test_it():\n    """snell2021 eq. 1, 2; zhao2019 eq. 1, 2."""\n'


def checked(folder: Path, code: str = CODE, listed: str = LISTED, test: str = TEST) -> None:
    for name, text in (("model/a.py", code), ("tests/b.py", test), (FILE, listed)):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    check(places(folder / FILE, KEYS), citations(folder, "model"), citations(folder, "tests"))


def test_who_cites_what(tmp_path: Path) -> None:
    checked(tmp_path)
    attend = [("Model.attend", "model/a.py", 11)]
    assert citations(tmp_path, "model") == {
        **dict.fromkeys(("snell2021 eq. 1", "snell2021 eq. 2", "snell2021 appendix A.10"), attend),
        **dict.fromkeys(("zhao2019 eq. 1", "zhao2019 eq. 2"), attend),
        "zhao2019 section 2": [("", "model/a.py", 1)],
        "snell2021 section 3.1": [("LIMIT", "model/a.py", 3)],  # and so the file is left out
    }


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"code": CODE.replace("eq. 1, 2", "eq. 1, 12")}, 'a.py, line 11: .*"snell2021 eq. 12"'),
        ({"code": CODE.replace("(snell2021 eq", "(snel2021 eq")}, '"snel2021 eq. 1"; did you mean'),
        ({"code": CODE.replace("eq. 1, 2", "eq. 1")}, "snell2021 eq. 2: cite it where"),
        ({"code": CODE.replace("eq. 1, 2", "eq. 1, 2, 3")}, "snell2021 eq. 3: cite it where"),
        ({"code": CODE.replace("snell2021 eq.", "equation")}, '"equation 1" is no reference'),
        ({"code": CODE.replace("snell2021 eq.", "snell2021, Eq.")}, '"Eq. 1" is no reference'),
        ({"code": CODE.replace("snell2021 section\n3", "section\n3")}, '3: "section 3.1" is no'),
        ({"code": CODE.replace("snell2021 eq. 1, 2, appendix ", "")}, '"A.10" is no reference'),
        ({"code": CODE.replace("section 3.1; zhao", "eq. 3; zhao")}, "1: cite snell2021 eq. 3 at"),
        ({"test": TEST.replace("eq. 1, 2;", "eq. 1;")}, "snell2021 eq. 2: no test cites it"),
        ({"test": TEST.replace("eq. 1, 2;", "eq. 1, 2, 4;")}, 'b.py, line 3: .*"snell2021 eq. 4"'),
        ({"listed": LISTED.replace("\tbackground", "\t")}, "snell2021 eq. 3: cite it where"),
        ({"listed": LISTED.replace("\tbackground", "")}, "line 4: a line has a reference"),
        ({"listed": LISTED.replace("zhao2019 eq. 1", "zhao eq. 1")}, "7: a line has a ref"),
        ({"listed": LISTED.replace("eq. 2", "eq. 1")}, "line 3: a line has a reference"),
        ({"listed": LISTED.replace("eq. 3", "equation 3")}, "line 4: a line has a reference"),
    ],
)  # fmt: skip
def test_a_planted_mistake_is_told(tmp_path: Path, change: dict[str, str], says: str) -> None:
    with pytest.raises(InputError, match=says):
        checked(tmp_path, **change)


def test_every_numbered_equation_is_listed() -> None:
    listed = [one for paper in Paper.all() for one in places(paper.folder / FILE, NUMBERED)]
    for key, last in NUMBERED.items():
        numbers = [str(n) for n in range(1, last + 1)] if key != "kinley2020" else ["3.1"]
        assert [one for one in listed if one.startswith(f"{key} eq.")] == [
            f"{key} eq. {number}" for number in numbers
        ]


def test_links_lead_to_what_they_name() -> None:
    links = re.findall(r"(?:`([\w.]+)` )?\[[\w.]+:\d+\]\(\.\./([\w/.]+)#L(\d+)\)", equations.page())
    assert len(links) > 200
    for name, path, line in links:
        text = (equations.ROOT / path).read_text().splitlines()[int(line) - 1]
        assert name.rpartition(".")[2] in text, (name, path, line)


def test_the_page_is_todays_and_a_planted_line_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    main(["equations", "--check"])
    planted = tmp_path / "equations.md"
    planted.write_text(equations.PAGE.read_text().replace("| eq. 1 |", "| eq. 11 |", 1))
    monkeypatch.setattr(equations, "PAGE", planted)
    with pytest.raises(SystemExit, match=r"docs/equations\.md is stale; run python -m workflow"):
        main(["equations", "--check"])
