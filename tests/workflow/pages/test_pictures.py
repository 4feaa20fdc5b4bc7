"""Pictures of the guides: made of today's pages, and readable on a dark page."""

import re

import pytest

from tests.laboratory.pictures import DIGEST, GUIDE, made_of, shown, themed


def test_pictures_of_the_explorer_are_of_todays_page() -> None:
    assert len(shown()) == GUIDE.read_text("utf-8").count("<img ") > 1
    for place, address in shown().items():
        text = (GUIDE.parent / place).read_text("utf-8")
        assert f'{DIGEST}="{made_of(address)}"' in text, f"{place} is old: run make pictures"


def svg(ink: str, ground: str) -> str:
    return (
        f'<svg viewBox="0 0 9 9"><rect width="100%" height="100%" fill="{ground}"/>'
        f'<text fill="{ink}">a</text><path stroke="rgb(9, 9, 9)" fill="none"/></svg>'
    )


def test_a_picture_follows_the_colours_of_the_reader() -> None:
    text = themed(svg("rgb(1, 1, 1)", "rgb(255, 255, 255)"), svg("rgb(8, 8, 8)", "rgb(0, 0, 0)"))
    assert "<rect" not in text and '<text fill="rgb(1, 1, 1)">' in text
    (rules,) = re.findall(r"prefers-color-scheme:dark\)\{(.*)\}</style>", text)
    assert rules == '[fill="rgb(1, 1, 1)"]{fill:rgb(8, 8, 8)}'


def test_one_colour_that_becomes_two_is_refused() -> None:
    light, dark = (
        f'<svg><text fill="rgb(1, 1, 1)">a</text><text fill="rgb({it}, 1, 1)">b</text></svg>'
        for it in (1, 8)
    )
    with pytest.raises(ValueError, match="on a dark page"):
        themed(light, dark)
