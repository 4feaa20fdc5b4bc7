"""The report in a real browser: what it does with scripts, and that nothing needs them."""

import html
import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.reporting.conftest import Open
from tests.reporting.page.conftest import fill
from tests.reporting.synthetic import Results
from workflow import ROOT
from workflow.definitions.paper import Paper
from workflow.files import read_csv
from workflow.reporting.claims.judged import claims_in
from workflow.reporting.page.guides import GUIDES, guides
from workflow.reporting.page.page import render

CELL = "discrete_transformer/table_6_1/sst/two_stream"
TABLE = "#discrete_transformer\\/table_6_1"
GRAVE = ("serious", "critical")
# The page of all runs takes minutes to make where the machine is busy.
pytestmark = pytest.mark.timeout(900)


def panel(page: Page) -> str:
    """Return what the open panel says."""
    page.wait_for_selector("#panel[open]")
    return " ".join(page.inner_text("#panel").split())


def rows(page: Page) -> list[str]:
    """Return the texts of the rows that a reader sees in tables and claims."""
    script = """() => [...document.querySelectorAll('table.sorted tr[data-paper]')]
        .filter((row) => !row.closest('[hidden]')).map((row) => row.textContent)"""
    found: list[str] = page.evaluate(script)
    return found


def test_the_first_screen_has_the_answer_and_every_decided_claim(
    opened: Open, lite: Results
) -> None:
    page = opened()
    assert page.locator(".card h2 a").all_inner_texts() == [
        reference.title for reference in Paper("discrete_transformer").about.references
    ]
    judged = claims_in((lite.folder / "claims").glob("*.json"))
    own = [one for one in judged if not one.check]
    decided = {
        f"#claim/discrete_transformer/{one.id}": one.verdict
        for one in own
        if one.verdict in ("holds", "does not hold", "no difference")
    }
    lines = page.locator(".forest .line")
    links = lines.evaluate_all("(all) => all.map((one) => one.getAttribute('href'))")
    assert len(links) > 5 and set(links) == set(decided)
    for link, line in zip(links, lines.all(), strict=True):
        assert decided[link] in str(line.text_content())
    tested = sum(one.verdict != "not run" for one in own)
    answer = page.inner_text(".answer")
    failed = sum(one.outcome == "does not hold" for one in own)
    kinds = re.search("Those that do not hold were tried on (.*)", answer)
    assert failed == sum(map(int, re.findall(r"\((\d+)\)", kinds[1] if kinds else "")))
    assert answer.startswith(f"Of {len(own)} claims of 2 papers, {tested} were tried: ")
    bottom = page.locator(".forest").bounding_box()
    assert bottom and bottom["y"] + bottom["height"] < 900
    for card in page.locator(".card").all():
        # The parts of a bar are as long as the counts below it say.
        bars, texts = (card.locator(name).all() for name in (".shares", ".counts"))
        for bar, counts in zip(bars, texts, strict=True):
            parts = "(parts) => parts.map((part) => Number(part.style.flexGrow))"
            grown = bar.locator("i").evaluate_all(parts)
            total, *counted = map(int, re.findall(r"\d+", counts.inner_text()))
            assert grown == counted and sum(counted) == total
    lines.first.click()
    assert decided[links[0]] in panel(page) and page.locator("#kinley2020").is_visible()


def test_a_demo_says_what_ran_and_shows_no_verdicts(
    opened: Open, results: Results, paper: Paper, tmp_path: Path
) -> None:
    results.add("stack_language", "uniform_discrete_penalty", 0)
    file = tmp_path / "demo.html"
    file.write_text(fill(results, paper, "demo"), encoding="utf-8")
    page = opened(of=file)
    said = page.inner_text("#overview")
    assert "none of its numbers can be compared" in said
    assert re.search(r"1 runs? in 4\.2 minutes of training", said)
    assert "undecided" not in page.inner_text("main")
    assert page.locator(".card .shares, .forest, td > .mark:visible").count() == 0


def test_one_tab_is_shown_and_an_address_opens_its_own(opened: Open) -> None:
    page = opened()
    here, shown = page.locator(".tabs [aria-current]"), page.locator(".tab:visible")
    assert here.inner_text() == "Overview" and shown.count() == 1
    page.focus(".tabs [href='#kinley2020']")
    page.keyboard.press("Enter")
    expect(here).to_have_attribute("href", "#kinley2020")
    assert shown.count() == 1 and shown.get_attribute("id") == "kinley2020"
    page.go_back()
    expect(here).to_have_attribute("href", "#overview")
    expect(opened("#cost").locator(".tab:visible")).to_have_attribute("id", "rest")
    folded = opened("#discrete_transformer/mechanism_stack")
    assert folded.locator("[id='discrete_transformer/mechanism_stack']").is_visible()
    assert folded.locator("details.block[open]").count() == 1


@pytest.mark.parametrize("width", [1300, 800, 400])
def test_nothing_is_wider_than_the_screen(opened: Open, width: int) -> None:
    page = opened(viewport={"width": width, "height": 800})
    for tab in ("overview", "kinley2020", "discrete2020", "rest"):
        page.evaluate(f"location.hash = '{tab}'")
        page.wait_for_selector(f"#{tab}:visible")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        chosen, bar = (
            page.locator(one).bounding_box() for one in (".tabs [aria-current]", ".tabs")
        )
        assert chosen and bar and bar["x"] <= chosen["x"]
        assert chosen["x"] + chosen["width"] <= bar["x"] + bar["width"] + 1
    page.evaluate("location.hash = 'kinley2020'")
    page.wait_for_selector("#kinley2020:visible")
    for evidence in page.locator("#kinley2020 .claims svg.whisker:visible").all():
        box = evidence.bounding_box()
        assert box and box["x"] + box["width"] <= width


def test_a_paper_opens_with_its_finding_and_leads_to_what_is_folded(opened: Open) -> None:
    page = opened("#kinley2020")
    card = page.locator(".card").first
    counts = card.locator(".counts").evaluate_all("(all) => all.map((one) => one.textContent)")
    own = page.locator("#kinley2020 .outcome .counts")
    assert counts and own.evaluate_all("(all) => all.map((one) => one.textContent)") == counts
    folds = page.locator("#kinley2020 .contents a", has_text=re.compile(r"^(Undecided|Not run) \("))
    assert folds.count()
    for link in folds.all():
        link.click()
        fold = page.locator(f"[id='{str(link.get_attribute('href'))[1:]}']")
        expect(fold).to_have_attribute("open", "")


def test_the_search_jumps_to_its_first_hit_and_dims_the_others(opened: Open) -> None:
    page = opened()
    found, dimmed = page.locator(".tools output"), page.locator("#kinley2020 tr.dimmed")
    page.keyboard.press("/")
    page.keyboard.type("6.1")
    # The table of that name comes before rows that say so, and 6.12 is none.
    assert page.locator(".hit").inner_text().startswith("Table 6.1:")
    expect(page.locator("#kinley2020")).to_be_visible()
    box, bar = page.locator(".hit").bounding_box(), page.locator(".bar").bounding_box()
    assert box and bar and bar["y"] == 0 and bar["height"] <= box["y"] < 900
    every = len(rows(page))
    hits, total = map(int, re.findall(r"\d+", found.inner_text()))
    assert 0 < hits < total and 0 < dimmed.count() < every
    page.fill("[name=words]", "two-stream sst")
    first = page.locator(".hit").inner_text()
    assert "SST" in first
    page.keyboard.press("Enter")
    assert page.locator(".hit").count() == 1 and page.locator(".hit").inner_text() != first
    page.fill("[name=words]", "")
    page.select_option("[name=verdict]", "differs")
    differing = page.locator("tr[data-paper]:not(.dimmed)").all_text_contents()
    assert differing and all("✗" in row for row in differing)
    assert found.inner_text() == f"{len(differing)} of {total} rows"
    page.fill("[name=words]", "polanski")
    assert "No row has “polanski”" in page.inner_text(".empty")
    page.keyboard.press("Escape")
    expect(page.locator(".empty")).to_be_hidden()
    expect(found).to_have_text("")
    assert page.locator("tr.dimmed").count() == 0
    page.click(".tabs [href='#kinley2020']")
    assert len(rows(page)) == every


def test_the_search_points_to_the_guides_where_they_are(
    opened: Open, lite: Results, text: str, tmp_path: Path
) -> None:
    assert 'class="guides' not in text
    assert guides(tmp_path / "report.html") == []
    links = guides(ROOT / "results" / "lite" / "report.html")
    assert [*GUIDES] == [name for name, _ in links]
    assert all((ROOT / "results" / "lite" / to).resolve().is_file() for _, to in links)
    file = tmp_path / "report.html"
    tables = lite.folder.glob("tables/*/table_6_1.csv")
    file.write_text(render("lite", tables=tables, guides=links), encoding="utf-8")
    page = opened(of=file)
    shown = page.locator(".guides")
    expect(shown).to_be_hidden()
    for words, where in (("SST", "main > .guides"), ("equation 1", ".empty .guides")):
        page.fill("[name=words]", words)
        expect(page.locator(where)).to_be_in_viewport()
    assert [one.get_attribute("href") for one in shown.locator("a").all()] == [
        to for _, to in links
    ]
    page.keyboard.press("Escape")
    expect(shown).to_be_hidden()


def test_a_column_sorts_its_groups_best_first_then_back(opened: Open) -> None:
    page = opened("#discrete_transformer/stack_language")
    table = page.locator("article:has([id='discrete_transformer/stack_language']) table.sorted")
    heads = table.locator("thead th")

    def values(column: int) -> list[list[float]]:
        groups: dict[str, list[float]] = {}
        for row in table.locator("tbody tr").all():
            texts = [str(cell.text_content()) for cell in row.locator("th, td").all()]
            found = re.match(r"-?[\d.]+", texts[column])
            groups.setdefault(texts[0], []).extend([float(found[0])] if found else [])
        return list(groups.values())

    for name, most_first in (("NLL", False), ("exact", True)):
        column = next(at for at, head in enumerate(heads.all_inner_texts()) if name in head)
        before = values(column)
        assert len(before) > 1
        heads.nth(column).locator("button").click()
        assert values(column) == [sorted(group, reverse=most_first) for group in before] != before
        heads.nth(column).locator("button").click()
        assert values(column) == [sorted(group, reverse=not most_first) for group in before]
        heads.nth(column).locator("button").click()
        assert values(column) == before


def test_a_cell_opens_the_runs_behind_it_and_its_address_opens_the_same(
    opened: Open, lite: Results
) -> None:
    page = opened("#kinley2020")
    page.click(f"[id='{CELL}']")
    said = panel(page)
    cell, beside = (page.locator(one).bounding_box() for one in (f"[id='{CELL}']", "#panel"))
    assert cell and beside and cell["x"] + cell["width"] <= beside["x"]
    assert page.evaluate("location.hash") == f"#{CELL}"
    for part in (
        "make run SCALE=lite",
        "text_classification/sst_two_stream/seed-{0,1,2}.json",
        "model.encoder.path",
        "TwoStream",
        "1234567890",
        "AMD EPYC <test>",
        "4.2",
        "reproduced",
        "tolerance",
    ):
        assert part in said, part
    assert page.locator("#panel svg.curves polyline").count() == 6  # two a seed
    assert page.locator("#panel tr.lit").count() == 3
    wider = "(all) => all.filter((one) => one.scrollWidth > one.clientWidth).length"
    assert page.locator("#panel .scroll").evaluate_all(wider) == 0
    for address in (CELL, f"{CELL}/tau_norm", "table_6_1/sst/two_stream"):
        assert panel(opened(f"#{address}")) == said
    page.keyboard.press("Escape")
    assert not page.locator("#panel").is_visible()
    assert page.evaluate("document.activeElement.id") == CELL


def test_notes_are_folded_and_a_drawing_stands_in_the_page_once(opened: Open, text: str) -> None:
    page = opened("#kinley2020")
    assert page.locator("details.note").count() > 10
    assert page.locator("main details[open]").count() == 0
    page.click(f"article:has(> h3{TABLE}) summary:has-text('Notes')")
    assert page.locator(f"article:has(> h3{TABLE}) .note li").first.is_visible()
    drawings = re.findall(r'src="(data:image[^"]+)"', text)
    assert drawings and len(drawings) == len(set(drawings))


def test_a_claim_opens_the_runs_of_both_sides(opened: Open) -> None:
    said = panel(opened("#claim/discrete_transformer/tau_sst"))
    assert "Runs: text_classification/sst_two_stream" in said
    assert "Runs: text_classification/sst_soft" in said


def test_the_command_is_copied(opened: Open) -> None:
    page = opened(f"#{CELL}", permissions=["clipboard-read", "clipboard-write"])
    panel(page)
    page.click("#panel >> text=Copy command")
    page.wait_for_selector("#panel >> text=Copied")
    assert page.evaluate("navigator.clipboard.readText()") == (
        'make run SCALE=lite ONLY="results/lite/measures/text_classification/sst_two_stream/'
        'seed-{0,1,2}.json"'
    )


def test_every_address_leads_to_what_it_names(opened: Open) -> None:
    page = opened()
    addresses = page.eval_on_selector_all("a.cell, tr[id]", "(all) => all.map((one) => one.id)")
    assert len(addresses) > 200 and CELL in addresses
    wrong = page.evaluate(
        r"""async (addresses) => {
            const wrong = [];
            for (const address of addresses) {
                location.hash = address;
                await new Promise((done) => addEventListener('hashchange', done, { once: true }));
                const cell = document.querySelector('.cell.open');
                const own = address.replace(/\/[^/]*$/, '');
                const open = cell && [address, own].includes(cell.id) && panel.open;
                const line = document.querySelector('tr:target');
                const alone = !document.getElementById(own) && line?.id === address;
                if (!open && !alone) wrong.push(address);
            }
            return wrong;
        }""",
        addresses,
    )
    assert wrong == []
    inner = page.eval_on_selector_all("a[href^='#']", "(all) => all.map((one) => one.hash)")
    missing = page.evaluate(
        "(all) => all.filter((one) => !document.getElementById(decodeURIComponent(one.slice(1))))",
        inner,
    )
    assert missing == []


def test_data_of_figures_and_tables_can_be_saved(opened: Open, lite: Results) -> None:
    page = opened("#kinley2020", accept_downloads=True)
    figure = page.locator("[id='discrete_transformer/figure_6_1']")
    figure.locator(".data summary").click()
    with page.expect_download() as saved:
        figure.locator(".data >> text=Save").click()
    assert saved.value.suggested_filename == "figure_6_1.csv"
    assert len(read_csv(Path(saved.value.path()))) > 5
    block = page.locator(f"article:has(> h3{TABLE})")
    block.locator(".full > summary").click()
    with page.expect_download() as saved:
        block.locator(".full >> text=Save as CSV").click()
    table = lite.folder / "tables/discrete_transformer/table_6_1.csv"
    ours = [line["ours"] for line in read_csv(Path(saved.value.path()))]
    assert ours == [line["mean"] for line in read_csv(table)]


def test_with_scripts_off_every_number_is_in_the_text(
    opened: Open, file: Path, lite: Results
) -> None:
    page = opened(java_script_enabled=False)
    assert not page.locator(".tools").is_visible()
    assert page.locator(".tab:visible").count() == page.locator(".tab").count() > 2
    # What a cell links to is there to be unfolded.
    link = page.get_attribute(f"[id='{CELL}']", "href")
    assert link == "#run/text_classification/sst_two_stream"
    assert page.locator(f"details[id='{link[1:]}'] pre.command").count() == 1
    text = html.unescape(re.sub(r"<[^>]+>|data:image[^\"]*", " ", file.read_text(encoding="utf-8")))
    words = set(text.split())
    for table in lite.folder.glob("tables/*/*.csv"):
        for line in read_csv(table):
            numbers = [line[name] for name in ("mean", "std", "ci_low", "ci_high", "expected")]
            assert {word for number in numbers for word in number.split()} <= words, line


def test_the_keyboard_alone_reaches_everything(opened: Open) -> None:
    page = opened()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page = opened("#kinley2020")
    # What is focused says so itself: a busy page may take several keys between two questions.
    wanted = page.evaluate(
        """() => {
            const kinds = 'a, button, summary, input, select, [tabindex="0"]';
            const seen = [...document.querySelectorAll(kinds)].filter(
                (one) => one.checkVisibility() && !one.disabled);
            seen.forEach((one) => { one.dataset.unreached = ''; });
            document.addEventListener('focusin', ({ target }) => {
                delete target.dataset.unreached;
                if (getComputedStyle(target).outlineStyle === 'none') target.dataset.unseen = '';
            });
            return seen.length;
        }"""
    )
    for _ in range(2 * wanted):
        page.keyboard.press("Tab")
        if not page.locator("[data-unreached]").count():
            break
    all_of = "(all) => all.map((one) => one.outerHTML)"
    assert wanted > 60 and page.eval_on_selector_all("[data-unreached]", all_of) == []
    assert page.eval_on_selector_all("[data-unseen]", all_of) == []
    page.focus(f"[id='{CELL}']")
    page.keyboard.press("Enter")
    panel(page)
    assert page.evaluate("document.activeElement.id") == "panel-title"
    page.keyboard.press("Tab")
    assert page.evaluate("document.getElementById('panel').contains(document.activeElement)")
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    assert not page.locator("#panel").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_checker_of_accessibility_finds_nothing_grave(opened: Open, scheme: str) -> None:
    page = opened(color_scheme=scheme)
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    violations = []
    for tab in ("overview", "kinley2020", "discrete2020", "rest"):
        page.evaluate(f"location.hash = '{tab}'")
        page.wait_for_selector(f"#{tab}:visible")
        violations += Axe().run(page).response["violations"]
    page.evaluate(f"location.hash = '{CELL}'")
    panel(page)
    violations += Axe().run(page, context="#panel").response["violations"]
    grave = [
        (one["id"], one["nodes"][0]["html"][:200], one["nodes"][0].get("failureSummary"))
        for one in violations
        if one["impact"] in GRAVE
    ]
    assert grave == []
