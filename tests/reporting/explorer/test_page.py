"""The explorer as a reader uses it, in a real browser: addresses, keys, edits, pictures."""

import random
import re
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.reporting.conftest import Open
from tests.reporting.explorer.pages import WORDS
from workflow.datasets.grammars.stack_grammar import WEIGHTS, Grammar, depths, legal, sample

GRAVE = ("serious", "critical")
FOCUSED = "((one) => one.name || one.className || one.id)(document.activeElement)"
FLIPS = r"Head [12] of layer [123] looked at “.” at \d+ and now looks at “.” at \d+, for position"
NEXT = "#task=next&a=Gumbel&b="
VIEWS = "#task=views&a=multiview.infix&b=multiview.prefix&text=( 4 %2B 1 ) * 3"


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
        return [one, complete(fromAddress(address)), address];
    }"""
    for trial in range(60):
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
        if trial % 20 == 0:
            assert state(opened(address)) == one


def test_what_is_not_known_in_an_address_is_as_at_first(opened: Open) -> None:
    found = state(opened("#task=nothing&a=Gumbel&text=what&at=x&layer=99&word=strange"))
    assert found["task"] == "next" and found["text"] == "( 1 1 ) ( ( 2 ) 1 )"
    assert (found["at"], found["layer"], found["word"]) == (10, 2, "")


VOCABULARY = ["<pad>", "<bos>", "<unk>", "it", "is", "n't", "'s", "do", "mr.", "-lrb-", "-rrb-"]
VOCABULARY += ["``", "''", "...", "!", ",", ".", "film", "k-19", "and\\/or", "can", "not", "a"]


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("It isn't a film!", "it is n't a film !"),
        ("it is n't a film !", "it is n't a film !"),
        ("Don’t… “Film”, Mr. K-19's", "do n't ... `` film '' , mr. k-19 's"),
        ('(a "film"!!!) and/or', "-lrb- a `` film '' ! -rrb- and\\/or"),
        ("It cannot film.", "it can not film ."),
        ("a well-made Amélie: film", "a well-made amélie : film"),
        ("<unk> film", "<unk> film"),
    ],
)
def test_a_text_is_split_as_its_data_are(opened: Open, typed: str, words: str) -> None:
    page = opened()
    script = "([words, text]) => split({ kind: 'class', words, specials: 2 }, text).join(' ')"
    assert page.evaluate(script, [VOCABULARY, typed]) == words
    assert page.evaluate(script, [VOCABULARY, words]) == words


def test_an_unknown_word_is_read_as_unk_and_named(opened: Open) -> None:
    page = opened("#task=class&a=TopK&b=&text=( ) 1")
    page.wait_for_selector(".panel")
    page.fill("[name=text]", "( Strange ) 1")
    until(page, "state.text === '( strange ) 1'")
    said = "“strange”: not among the 9 words of this page. The model reads <unk> instead."
    assert page.inner_text("#notice") == said
    assert page.locator(".token.unknown").all_inner_texts() == ["strange"]
    strange = page.locator(".choice").all_inner_texts()
    page.fill("[name=text]", "( <unk> ) 1")
    until(page, "state.text === '( <unk> ) 1'")
    assert (page.inner_text("#notice"), page.locator(".choice").all_inner_texts()) == ("", strange)
    page.fill("[name=text]", "( " * 40)
    until(page, "state.text.length > 30")
    assert page.inner_text("#notice") == "The models read the first 23 of 40 words."
    assert page.locator(".token").count() == 24


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
    assert page.evaluate("document.activeElement.className").endswith("pointed")
    settled(page, "press", "x")
    assert state(page)["word"] == ""
    page.keyboard.press("?")
    assert page.evaluate("document.getElementById('drawer').open")
    # Tasks, models and all else are controls that Tab reaches.
    reached = set()
    page.evaluate("document.activeElement.blur()")
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate(FOCUSED))
    named = {"task", "a", "b", "example", "text", "at", "layer", "head", "least"}
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
            flips = "flips" if "orange" in said else "inside"
            seen.add("same" if "to the last bit" in said else flips)
            flips = page.evaluate(
                "panelOf(state, state.a).then(({ change }) => change.flips.length)"
            )
            drawn = [one.locator(".flip").count() for one in page.locator("svg.graph").all()]
            assert drawn == [flips, flips] and bool(flips) == ("orange" in said)
            assert not flips or re.search(FLIPS, said)
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
        assert "changing this word changes nothing: exactly 0." in verdicts(page)[0]
        assert page.locator("#replace").is_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#replace")).to_be_hidden()
    page.get_by_role("button", name="Try all 8 other words here").click()
    expect(page.locator(".found")).to_contain_text("Tried 8 of 8 words")
    said = r"words. (\d) change the answer. \d make a head look elsewhere. 0 change the prediction"
    turned = int(re.search(said, page.inner_text(".found"))[1])  # type: ignore[index]
    assert page.locator(".found button").count() == turned


def test_before_and_after_are_beside_each_other(opened: Open) -> None:
    page = opened(f"{NEXT}&at=10&place=2")
    expect(page.locator(".side")).to_have_count(1)
    before = page.locator(".choice").all_inner_texts()
    page.locator(".token").nth(2).click()
    settled(page, "type", "(")
    assert page.locator(".side h3").all_inner_texts() == ["Before: “1”", "After: “(”"]
    bars = [side.locator(".choice").all_inner_texts() for side in page.locator(".side").all()]
    assert bars[0] == before and bars[1] != before
    assert [one.split()[0] for one in bars[0]] == [one.split()[0] for one in bars[1]]
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".side")).to_have_count(1)


@pytest.mark.parametrize(
    ("address", "answers"),
    [
        ("#task=views&text=( 4 %2B 1 ) * 3", ["the value is 0"]),
        ("#task=views&text=1 %2B %2B", []),
        ("#task=next&text=( ( 2", ["“(” or “)” or “2” may come next"]),
        ("#task=next&text=( ( 1", []),
        (
            f"#task=next&text={17 * '0 '}( 1",
            ["“)” may come next. It is symbol 20 of 20, and all parentheses must close"],
        ),
        (
            f"#task=next&text={17 * '0 '}(",
            ["“)” or “1” may come next. It is symbol 19 of 20, and all parentheses must close"],
        ),
        ("#task=next&text=( ) )", []),
        ("#task=class&text=( ( ) 0 )", ["the reviewer says good"]),
        ("#task=class&text=( ( )", []),
    ],
)
def test_an_answer_is_right_or_wrong(opened: Open, address: str, answers: list[str]) -> None:
    page = opened(f"{address}&b=")
    page.wait_for_selector(".panel")
    said = [text for text in page.locator(".answer").all_inner_texts() if text]
    assert [text.split(": ")[1].rstrip(".") for text in said] == answers
    for text in said:
        best = page.locator(".choice.best .name").inner_text()
        assert text.startswith("✓ Right" if best in re.findall(r"\w+|[()]", answers[0]) else "✗")


@pytest.mark.parametrize("balanced", [True, False])
def test_what_may_come_next_is_what_the_grammar_allows(opened: Open, balanced: bool) -> None:
    grammar = Grammar(WEIGHTS["uniform"], balanced, max_depth=4, length=12)
    allowed, names = legal(grammar), ["(", ")", *"01234"]
    task = {"words": names, "closes": 12 if balanced else None}
    asked, expected = [], []
    for row in sample(grammar, 40, np.random.default_rng(0)):
        words = [names[symbol] for symbol in row]
        for at, depth in enumerate(depths(row[None])[0][:-1]):
            options = np.array(["(", ")", str(depth)])
            asked.append([words, at])
            expected.append(options[allowed[at, depth]].tolist())
    script = "([task, asked]) => asked.map((one) => ANSWERS_OF.next(task, ...one))"
    assert opened().evaluate(script, [task, asked]) == expected


@pytest.mark.parametrize(
    ("address", "present", "absent"),
    [
        ("#task=next&a=Gumbel&b=", ["Type a", "a decision that flips", "right answer"], ["much"]),
        ("#task=next&a=Softmax&b=", ["Type a", "much", "at most 1"], ["flips", "in the recep"]),
        ("#task=next&a=Gumbel&b=Softmax", ["much", "flips"], ["recorded"]),
        ("#task=class&a=TopK&b=", ["Type a"], ["right answer"]),
        ("#task=translation", ["Choose a sentence", "outside"], ["Type", "flips", "head looks"]),
    ],
)
def test_header_and_legend_speak_of_what_is_shown(
    opened: Open, address: str, present: list[str], absent: list[str]
) -> None:
    page = opened(address)
    page.wait_for_selector(".panel")
    shown = [*page.locator("main > p:visible").all_inner_texts(), page.inner_text("#legend")]
    said = " ".join(shown)
    assert [part for part in present if part not in said] == []
    assert [part for part in absent if part in said] == []


def test_it_opens_with_a_case_that_its_models_are_right_about(opened: Open) -> None:
    """Or, where none is, with one about which as many are right as about any."""
    page = opened("#task=next")
    page.wait_for_selector(".panel")
    right = page.locator(".answer.right").count()
    for example in range(len(page.evaluate("TASKS[0].examples"))):
        page.evaluate("(number) => choose(number)", example)
        until(page, "(number) => shownExample() === number", example)
        assert page.locator(".answer.right").count() <= right


def test_a_paper_names_what_its_task_opens_with(opened: Open) -> None:
    found = state(opened("#task=class"))
    assert (found["text"], found["place"], found["word"], found["b"]) == ("( 3 )", 2, "4", "")
    assert state(opened("#task=class&text=1"))["word"] == ""


def test_a_soft_model_shows_that_nothing_is_left_out(opened: Open) -> None:
    page = opened("#task=next&a=Softmax&b=&place=2")
    assert "Soft attention reads every word: nothing is outside." in verdicts(page)[0]
    assert re.search(
        r"The receptive field has 10 of 10 tokens.*% of the weights behind .* are below 0.05",
        page.inner_text(".size"),
    )


def test_lines_of_a_graph_are_weights_above_a_share(opened: Open) -> None:
    page = opened("#task=next&a=Softmax&b=")
    graph = page.locator("figure:has(> .scroll > svg.graph)")
    page.wait_for_selector(".panel")
    page.locator("#drawer summary").click()
    drawn = []
    for least in (5, 20, 60):
        page.locator("[name=least]").fill(str(least))
        until(page, "(least) => state.least === least", least)
        drawn.append(graph.locator("line.read").count())
        shares = re.findall(r"([\d.]+) %", "".join(graph.locator("line.read").all_text_contents()))
        assert all(float(share) >= least for share in shares)
        said = f"Lines are weights of at least {least} %. "
        assert graph.locator("figcaption").inner_text().startswith(said)
    assert drawn[0] > drawn[1] > drawn[2]
    gumbel = opened(NEXT)
    gumbel.wait_for_selector(".panel")
    assert "lighter" not in gumbel.inner_text(".panel")


@pytest.mark.parametrize(("task", "word"), [("next", "1"), ("class", "<unk>")])
def test_on_a_phone_a_graph_fits_or_scrolls_at_its_own_size(
    opened: Open, task: str, word: str
) -> None:
    text = f"( {word} 1 ) ( ( 2 ) 1 ) ( ( 3 3 ) ) ( ( 3 3 ) )"
    page = opened(f"#task={task}&b=&text={text}", viewport={"width": 400, "height": 800})
    page.wait_for_selector(".panel")
    sizes = """(picture) => [picture.viewBox.baseVal.width, picture.getBoundingClientRect().width,
        picture.parentElement.scrollLeft, picture.parentElement.clientWidth,
        Number(picture.dataset.at)]"""
    own, wide, left, room, at = page.locator("svg.graph").evaluate(sizes)
    assert (own <= room) == (task == "next")
    assert wide >= own and left <= at <= left + room
    assert page.evaluate("document.documentElement.scrollWidth") == 400


def test_on_a_phone_two_models_are_compared_in_one_table(opened: Open) -> None:
    address = "#task=next&a=Gumbel&b=Softmax&text=( ( 2&place=2&word="
    page = opened(address + "1", viewport={"width": 400, "height": 800})
    page.wait_for_selector(".panel")
    rows = [one.split("\t") for one in page.inner_text("#compared").splitlines()]
    assert [row[0] for row in rows] == ["model", "Gumbel", "Softmax"]
    assert rows[0][1:] == ["before", "after", "field"] and rows[2][3] == "3 of 3"
    best = page.locator(".side .choice.best .name").all_inner_texts()
    assert [cell.split()[0] for row in rows[1:] for cell in row[1:3]] == best
    page.set_viewport_size({"width": 1300, "height": 900})
    expect(page.locator("#compared")).to_be_hidden()


def test_the_legend_names_the_start_symbol(opened: Open) -> None:
    page = opened(NEXT)
    page.wait_for_selector(".panel")
    assert page.inner_text("#start").split() == ["^", "start", "symbol,", "not", "counted"]
    page = opened("#task=translation&a=sharp&b=soft&at=0")
    page.wait_for_selector(".panel")
    expect(page.locator("#start")).to_be_hidden()


def test_both_views_of_an_expression_are_linked(opened: Open) -> None:
    page = opened(f"{VIEWS}&place=4&at=3")
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
        ("( x )", "“x” is no symbol of this task; it has ( ) + * 0 1 2 3 4."),
        (" ", "Type a sentence."),
    ],
)
def test_beside_a_refused_text_nothing_old_is_drawn(opened: Open, typed: str, said: str) -> None:
    page = opened(NEXT)
    before = state(page)
    page.fill("[name=text]", typed)
    assert page.inner_text("#fault") == said
    assert page.evaluate("({ ...state })") == before and page.locator(".panel").count() == 0
    page.fill("[name=text]", "( 1 )")
    page.wait_for_selector(".panel")
    assert page.inner_text("#fault") == ""


def test_a_picture_is_saved(opened: Open, tmp_path: Path) -> None:
    page = opened(NEXT)
    page.wait_for_selector(".panel")
    page.locator("#drawer summary").click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save as SVG").first.click()
    file = tmp_path / "picture"
    waiting.value.save_as(file)
    assert waiting.value.suggested_filename == "next-Gumbel.svg"
    content = file.read_bytes()
    assert content.startswith(b"<svg") and len(content) > 2000
    assert b"var(" not in content and b"class=" not in content


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_accessibility_checker_finds_nothing_serious(opened: Open, scheme: str) -> None:
    for address in (f"{NEXT}&word=1&place=2", "#task=class", "#task=views&b=multiview.prefix"):
        page = opened(address, color_scheme=scheme)
        page.wait_for_selector(".panel")
        found = Axe().run(page).response["violations"]
        assert [one["id"] for one in found if one["impact"] in GRAVE] == []


def test_a_recorded_translation_has_attention_beside_importance(opened: Open) -> None:
    page = opened("#task=translation&a=sharp&b=soft&at=0")
    expect(page.locator(".panel")).to_have_count(2)
    sharp, soft = page.locator(".panel").all()
    assert "Its receptive field has 1 of 3 source tokens" in sharp.inner_text()
    assert "Its receptive field has 3 of 3 source tokens" in soft.inner_text()
    assert sharp.locator("[data-side=source].in").all_inner_texts() == ["ein"]
    shown = [row.inner_text().split() for row in sharp.locator("tbody tr").all()]
    assert "attention, layer 1, mean over 1 head" in sharp.inner_text()
    assert [row[1] for row in shown] == ["100.0", "0.0", "0.0"]
    assert [row[3] for row in shown] == ["25.0", "75.0", "0.0"]
    settled(page, "press", "Shift+ArrowRight")
    assert "the model predicts “</s>”" in page.locator(".panel").first.inner_text()
    settled(page, "press", "n")
    one = state(page)
    assert (one["text"], one["at"]) == ("2", 0)
    page.wait_for_url(lambda address: "text=2" in address)
    assert state(opened(page.url[page.url.index("#") :])) == one
