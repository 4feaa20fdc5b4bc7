"""The explorer as a reader uses it, in a real browser: addresses, keys, edits, pictures."""

import random
import re
import time
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.reporting.conftest import Open
from tests.reporting.explorer.pages import WORDS

GRAVE = ("serious", "critical")
FOCUSED = "((one) => one.name || one.className || one.id)(document.activeElement)"
FLIPS = r"flips head [12] of layer [123] at position \d+, from “.” at \d+ to “.” at \d+"
NEXT = "#task=next&a=Gumbel&b="


def state(page: Page) -> dict[str, Any]:
    """Return what is shown, once it is."""
    page.wait_for_selector(".panel")
    found: dict[str, Any] = page.evaluate("({ ...state })")
    return found


def verdicts(page: Page) -> list[str]:
    page.wait_for_selector(".verdict")
    return page.locator(".verdict").all_inner_texts()


def until(page: Page, script: str, argument: Any = None) -> None:
    """Wait until a script says yes; the page's policy forbids Playwright's own way."""
    end = time.monotonic() + 60
    while not page.evaluate(script, argument):
        assert time.monotonic() < end, script
        time.sleep(0.02)


def settled(page: Page, action: str, *arguments: Any) -> None:
    """Do something that changes what is shown, and wait until it is shown."""
    page.evaluate(
        "globalThis.done = new Promise((go) => addEventListener('shown', go, { once: true })); 0"
    )
    getattr(page.keyboard, action)(*arguments)
    page.evaluate("done")


def test_it_opens_with_two_models_side_by_side(opened: Open) -> None:
    page = opened()
    expect(page.locator(".panel")).to_have_count(2)
    assert page.locator(".panel h2").all_inner_texts() == ["Gumbel", "Softmax"]
    assert page.locator(".token.in").count() and page.locator("svg.graph").count() == 2
    assert page.locator("svg.heat .weight").count()


def test_every_state_survives_its_address(opened: Open) -> None:
    """Random states are the same read from their address, and, some, in a page opened there."""
    draw = random.Random(0)
    page = opened()
    page.wait_for_selector(".panel")
    script = """(given) => {
        const one = complete(given), address = toAddress(one);
        return [one, fromAddress(address), address];
    }"""
    for trial in range(200):
        kind = draw.choice(["next", "class", "views"])
        symbols = WORDS[3:]
        text = " ".join(draw.choices(symbols, k=draw.randint(1, 23)))
        names = {"next": ["Gumbel", "Softmax"], "class": ["two_stream", "TopK", "shared"]}
        keys = names.get(kind, ["multiview.infix", "multiview.prefix"])
        given = {
            **{"task": kind, "a": draw.choice(keys), "b": draw.choice([*keys, ""]), "text": text},
            **{"at": draw.randint(0, 25), "place": draw.randint(-1, 25)},
            **{"word": draw.choice([*symbols, ""]), "layer": draw.randint(-1, 4)},
            "head": draw.randint(-2, 3),
        }
        one, other, address = page.evaluate(script, given)
        assert one == other and one["text"] == text
        if trial % 25 == 0:
            assert state(opened(address)) == one


def test_what_is_not_known_in_an_address_is_as_at_first(opened: Open) -> None:
    found = state(opened("#task=nothing&a=Gumbel&text=what&at=x&layer=99&word=strange"))
    assert found["task"] == "next" and found["text"] == "( 1 1 ) ( ( 2 ) 1 )"
    assert (found["at"], found["layer"], found["word"]) == (10, 2, "")


def test_an_example_with_a_word_that_is_unknown_is_shown(opened: Open) -> None:
    page = opened("#task=class&a=TopK&b=&text=( ) 1")
    page.wait_for_selector(".panel")
    page.evaluate("choose(2)")
    until(page, "state.text === '( <unk> ) 1'")
    assert page.locator(".token").all_inner_texts()[2] == "<unk>"
    page.keyboard.press("e")
    page.keyboard.press("Control+A")
    page.keyboard.type("strange")
    page.wait_for_selector("#fault:not(:empty)")
    said = "“strange” is none of the 10 words that this page knows; <unk> stands for others."
    assert page.locator("#fault").inner_text() == said


def test_the_keyboard_alone_reaches_every_view(opened: Open) -> None:
    page = opened(f"{NEXT}&at=6&place=3&layer=1&head=-1")
    assert state(page)["place"] == 3
    keys = {"ArrowRight": ("place", 4), "ArrowLeft": ("place", 3), "Shift+ArrowRight": ("at", 7)}
    keys |= {"Shift+ArrowLeft": ("at", 6), "ArrowUp": ("layer", 2), "ArrowDown": ("layer", 1)}
    for key, (name, value) in (keys | {"h": ("head", 0), "n": ("text", "( ( ) 0 )")}).items():
        settled(page, "press", key)
        assert state(page)[name] == value, key
    page.keyboard.press("e")
    assert page.evaluate("document.activeElement.name") == "text"
    page.keyboard.press("Control+A")
    page.keyboard.type("( 1 )")
    until(page, "state.text === '( 1 )'")
    page.keyboard.press("Escape")
    page.keyboard.press("w")
    settled(page, "type", "2")
    assert state(page)["word"] == "2"
    page.keyboard.press("Escape")
    settled(page, "press", "x")
    assert state(page)["word"] == ""
    page.keyboard.press("?")
    assert page.evaluate("document.getElementById('keys').open")
    # Tasks, models and all else are controls that Tab reaches.
    reached = set()
    page.evaluate("document.activeElement.blur()")
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate(FOCUSED))
    named = {"task", "a", "b", "example", "text", "at", "place", "word", "layer", "head"}
    assert named | {"copy", "scroll"} <= reached


def test_an_edit_says_what_it_does(opened: Open) -> None:
    """Every token outside the field and every word: the verdict says what was computed."""
    page = opened(NEXT)
    seen = set()
    for place in range(1, 11):
        for word in WORDS[3:]:
            change = {"at": 10, "place": place, "word": word}
            page.evaluate("(change) => go(change)", change)
            (said,) = verdicts(page)
            seen.add(
                "same" if "bit for bit" in said else "flips" if "flips head" in said else "inside"
            )
            if "flips head" in said:
                assert re.search(FLIPS, said)
                assert page.locator("svg.graph .flip").count() == 2
            else:
                assert page.locator("svg.graph .flip").count() == 0
    assert seen == {"same", "flips", "inside"}


def test_outside_the_field_it_says_what_cannot_change(opened: Open) -> None:
    page = opened(NEXT)
    page.wait_for_selector(".panel")
    outside = page.locator(".token.out").all()
    assert outside
    for chip in outside[:4]:
        position = chip.get_attribute("data-position")
        chip.click()
        until(page, "(place) => state.place === Number(place)", position)
        assert "cannot change the prediction: difference 0" in verdicts(page)[0]
    page.get_by_role("button", name=re.compile("Try all 8 other words")).click()
    page.wait_for_selector(".found:not(:empty)")
    assert re.search(r"\d of 8 flip a decision", page.inner_text(".found"))


def test_a_soft_model_shows_that_nothing_is_left_out(opened: Open) -> None:
    page = opened("#task=next&a=Softmax&b=&place=2")
    assert "this attention leaves nothing out" in verdicts(page)[0]
    assert re.search(
        r"Field: 10 of 10 tokens.*% of the weights that lead here are below 0.05",
        page.inner_text(".size"),
    )


def test_both_views_of_an_expression_are_linked(opened: Open) -> None:
    page = opened("#task=views&a=multiview.infix&b=multiview.prefix&place=4&at=3")
    expect(page.locator(".panel")).to_have_count(2)
    infix, prefix = (panel.locator(".token") for panel in page.locator(".panel").all())
    assert infix.all_inner_texts() == ["‹cls›", *"(4+1)*3"]
    assert prefix.all_inner_texts() == ["‹cls›", *"(*(+41)3)"]
    assert page.locator(".token.pointed").all_inner_texts() == ["1", "1"]
    assert page.locator(".token.at").all_inner_texts() == ["+", "+"]
    # The sub-expression of the sum is what its state needs.
    needed = page.locator(".panel").first.locator(".token.true").all_inner_texts()
    assert needed == [*"(4+1)"]
    page.evaluate("go({ text: '4 + + 1' })")
    until(page, "document.querySelectorAll('.panel')[1].textContent.includes('No expression')")
    assert "“+” at 3 is out of place" in page.locator(".panel").nth(1).inner_text()


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("( x )", "“x” is none of the 9 words that this page knows."),
        ("( " * 24, "At most 23 words: these are 24."),
        (" ", "Type a sentence."),
    ],
)
def test_what_cannot_be_computed_is_said_and_changes_nothing(
    opened: Open, typed: str, said: str
) -> None:
    page = opened(NEXT)
    before = state(page)
    page.fill("[name=text]", typed)
    assert page.inner_text("#fault") == said
    assert state(page) == before


@pytest.mark.parametrize("kind", ["SVG", "PNG"])
def test_a_picture_is_saved(opened: Open, tmp_path: Path, kind: str) -> None:
    page = opened(NEXT)
    page.wait_for_selector(".panel")
    with page.expect_download() as waiting:
        page.get_by_role("button", name=f"Save as {kind}").first.click()
    file = tmp_path / "picture"
    waiting.value.save_as(file)
    start = {"SVG": b"<svg", "PNG": b"\x89PNG"}[kind]
    assert waiting.value.suggested_filename == f"next-Gumbel.{kind.lower()}"
    assert file.read_bytes().startswith(start) and len(file.read_bytes()) > 2000
    if kind == "SVG":
        assert b"var(" not in file.read_bytes() and b"class=" not in file.read_bytes()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_accessibility_checker_finds_nothing_serious(opened: Open, scheme: str) -> None:
    for address in (f"{NEXT}&word=1&place=2", "#task=class", "#task=views&b=multiview.prefix"):
        page = opened(address, color_scheme=scheme)
        page.wait_for_selector(".panel")
        found = Axe().run(page).response["violations"]
        assert [one["id"] for one in found if one["impact"] in GRAVE] == []


def test_it_fits_a_narrow_screen(opened: Open) -> None:
    for task in ("next", "class", "views"):
        page = opened(f"#task={task}", viewport={"width": 400, "height": 800})
        page.wait_for_selector(".panel")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_without_scripts_it_says_what_it_needs(opened: Open) -> None:
    assert "need scripts" in opened(java_script_enabled=False).inner_text("noscript, body")


def test_a_recorded_translation_has_attention_beside_importance(opened: Open) -> None:
    page = opened("#task=translation&a=sharp&b=soft&at=0")
    expect(page.locator(".panel")).to_have_count(2)
    sharp, soft = page.locator(".panel").all()
    assert "Its field: 1 of 3 source tokens" in sharp.inner_text()
    assert "Its field: 3 of 3 source tokens" in soft.inner_text()
    assert sharp.locator("[data-side=source].in").all_inner_texts() == ["ein"]
    shown = [row.inner_text().split() for row in sharp.locator("tbody tr").all()]
    assert [row[1] for row in shown] == ["100.0", "0.0", "0.0"]
    assert [row[3] for row in shown] == ["25.0", "75.0", "0.0"]
    settled(page, "press", "Shift+ArrowRight")
    assert "the model says “</s>”" in page.locator(".panel").first.inner_text()
    settled(page, "press", "n")
    one = state(page)
    assert (one["text"], one["at"]) == ("2", 0)
    page.wait_for_url(lambda address: "text=2" in address)
    assert state(opened(page.url[page.url.index("#") :])) == one
