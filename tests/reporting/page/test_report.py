"""The report page: well formed, self-contained, escaped, and complete."""

import html
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest

from tests.reporting.page.conftest import fill, show
from tests.reporting.statistics.test_crossing import LONGER
from tests.reporting.synthetic import Results, outcomes
from tests.sealing import change, flip
from workflow.definitions.paper import Paper
from workflow.definitions.references import key_of
from workflow.files import read_json, write_json
from workflow.reporting.claims import judging
from workflow.reporting.claims.caveats import Caveats
from workflow.reporting.claims.judged import KINDS, TASK
from workflow.reporting.claims.judging import judge
from workflow.reporting.measures import Measures
from workflow.reporting.page import claims as page_claims
from workflow.reporting.page import overview
from workflow.reporting.page.charts import ChartLine, chart, ticks, whisker
from workflow.reporting.page.marks import Mark
from workflow.reporting.page.page import render, write_page
from workflow.reporting.page.runs import recorded
from workflow.reporting.statistics.verdict import WORDS
from workflow.reporting.tables.tabulating import tabulate
from workflow.runtime.integrity import Damaged, read_verified

VOID = {"meta", "link", "img", "br", "input", "path", "circle", "polyline"}


class Page(HTMLParser):
    """Checks that tags are balanced, and keeps what the tests ask about."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.images: list[dict[str, str | None]] = []
        self.labelled: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        self.ids += [given["id"]] if given.get("id") else []
        self.links += [str(given[name]) for name in ("href", "src") if name in given]
        self.labelled += str(given.get("aria-labelledby", "")).split()
        if tag == "img":
            self.images.append(given)
        if tag == "svg":
            assert given.get("aria-hidden") or (given["role"] == "img" and given["aria-label"])

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in VOID

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory, paper: Paper) -> str:
    """Return the page of a single run."""
    results = Results(tmp_path_factory.mktemp("single"), "lite")
    results.add("text_classification", "sst_soft", 0)
    return html.unescape(fill(results, paper))


def test_page_is_well_formed(text: str) -> None:
    page = Page(text)
    assert len(page.ids) == len(set(page.ids))
    assert set(page.labelled) <= set(page.ids)
    inner = {link[1:] for link in page.links if link.startswith("#")}
    assert inner and inner <= set(page.ids)


def test_nothing_is_fetched(text: str) -> None:
    page = Page(text)
    papers = {one.link for paper in Paper.all() for one in paper.about.references}
    assert papers & {*page.links}  # which a reader may follow
    others = {*page.links} - papers
    assert all(link.startswith(("#", "data:")) for link in others)
    assert "default-src 'none'" in text  # so that a browser refuses to
    rest = re.sub(r'src="data:image[^"]+"|<a href="https://[^"]+">', "", text)
    assert not re.search(r"https?://|@import|url\(|<script [^>]*src|import\(|fetch\(", rest)


def test_figures_are_vectors_with_a_description_and_their_data(text: str, paper: Paper) -> None:
    page = Page(text)
    shown = [image for image in page.images if str(image["alt"]).endswith((".", ".)"))]
    assert len(shown) == len(paper.figures["figures"]) == text.count("<figure ")
    for image in page.images:
        drawing = unquote(str(image["src"]).removeprefix("data:image/svg+xml,"))
        assert ElementTree.fromstring(drawing).tag.endswith("svg")
        assert int(str(image["width"])) > 100 and int(str(image["height"])) > 50
    data = text.partition('data-name="stack_exact_spans.csv">')[2].partition("</pre>")[0]
    lines = html.unescape(data).splitlines()
    assert lines[0] == "panel,series,x,y"
    assert any("discrete + penalty" in line for line in lines)


def test_a_paper_has_its_claims_its_tables_in_its_order_then_figures_and_more(text: str) -> None:
    """Tables of which nothing was run come last."""

    def place(name: str) -> int:
        return text.index(f' id="{name if "/" in name else f"discrete_transformer/{name}"}"')

    titles, empty = [f"table_6_{number}" for number in range(1, 6)], "empty/kinley2020"
    ran = [one for one in titles if place(one) < place(empty)]
    absent = [one for one in titles if one not in ran]
    assert ran and absent
    order = ["claims/kinley2020", *ran, "figures/kinley2020", "figure_6_1", "beyond/kinley2020"]
    order += ["mechanism_stack", empty, *absent, "claims/discrete2020", "stack_language"]
    order += ["figures/discrete2020", "figure_2"]
    places = [place(one) for one in order]
    assert places == sorted(places)
    assert 'id="beyond/discrete2020"' not in text  # since the paper prints numbers of its table


def test_what_came_out_comes_first_and_everything_is_there(
    text: str, paper: Paper, lite: Results
) -> None:
    keys = [one.key for one in paper.about.references]
    order = ["overview", *keys, "runs", "cost", "licences", "not-run", "verdicts"]
    places = [text.index(f'<section id="{name}"') for name in order]
    assert places == sorted(places)
    said = html.unescape(text)
    for claim in paper.claims["claims"]:
        assert " ".join(claim["claim"].split())[:40] in said
    assert text.count('<svg class="curves"') == len({path.parent.parent for path in lite.runs})
    assert "AMD EPYC &lt;test&gt;" in text
    assert "<li>Table 6.1" in text.partition('id="not-run"')[2]
    assert "Not run (gradient norm): IMDB; 20 News" in text
    assert "the binomial error" in text
    assert "lr: 0.002" in text


def test_claims_that_were_not_run_are_folded_into_a_list(single: str, paper: Paper) -> None:
    claims = single.partition('<h3 id="claims/kinley2020"')[2].partition("</article>")[0]
    # One is of the run alone, beside a fixed value.
    own = [one for one in paper.claims["claims"] if key_of(one["source"]) == "kinley2020"]
    waiting = [one for one in own if one["id"] != "soft_not_correlated_sst"]
    checks = sum(one.get("check", False) for one in waiting)
    said = f"{len(waiting) - checks} claims not run, and {checks} checks"
    assert checks > 1 and f'<details id="waiting/kinley2020"><summary>{said}</summary>' in claims
    assert claims.count('<span class="mark') == 1 and claims.count("<li ") == len(waiting)
    assert "): data not here in full.</li>" in claims


def test_the_head_counts_checks_apart(single: str, paper: Paper) -> None:
    checks = sum(one.get("check", False) for one in paper.claims["claims"])
    own = len(paper.claims["claims"]) - checks
    head = single.partition('<p class="facts">')[2].partition("</p>")[0]
    assert f"<b>{own}</b> claims" in head and f"<b>{checks}</b> checks" in head


def test_a_claim_whose_measure_is_undefined_leads_to_itself(results: Results, paper: Paper) -> None:
    results.add("text_classification", "sst_soft", 0)
    fill(results, paper)
    path = results.folder / "claims" / f"{paper.name}.json"
    change(path, lambda told: told["claims"][0].update(verdict="undecided", runs=[], seeds=[]))
    address = f"claim/{paper.name}/{paper.claims['claims'][0]['id']}"
    assert f'id="{address}" href="#{address}"' in show(results)


def test_rows_that_were_not_run_are_named_below_their_table(single: str) -> None:
    table = single.partition('<h3 id="discrete_transformer/table_6_1"')[2].partition("<h3")[0]
    assert '<th scope="row">SST</th>' in table and '<th scope="row">IMDB</th>' not in table
    assert "<li>Not run (gradient norm): IMDB; " in table
    table = single.partition('<h4 id="discrete_transformer/table_6_5"')[2].partition("<h4")[0]
    assert "None of its rows was run." in table.partition("</table>")[0]


def test_text_from_files_is_escaped(results: Results, paper: Paper) -> None:
    path = results.add("text_classification", "sst_soft", 0)
    run = path.parents[3] / "runs/text_classification/sst_soft/seed-0/run.json"
    script = "<script>alert(1)</script>&"
    change(run, lambda record: record["spec"]["run"].update(label=script))
    text = fill(results, paper)
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;&amp;" in text
    Page(text)


def test_the_rules_behind_verdicts_are_shown(text: str) -> None:
    shown = " ".join(text.split())
    assert '<th scope="row">tau_norm</th> <td class="wrap">0.02</td> <td>examples</td>' in shown
    assert '<th scope="row">recall</th> <td class="wrap">0.015</td> <td>none</td>' in shown
    assert "near</span> within 2 tolerances" in shown
    for word in WORDS:
        kind = word.replace(",", "").replace(" ", "-")
        assert word == "not run" or f'<span class="mark {kind}">' in shown
        assert Mark(word).look == kind and Mark(word).sign in shown


def test_a_former_verdict_stands_beside_the_badge(tmp_path: Path) -> None:
    made = tmp_path / "attention_learning" / "table_4"
    tabulate(Paper("attention_learning"), "table_4", "lite", Measures(LONGER), made)
    page = render("lite", tables=[made.with_suffix(".csv")])
    Page(page)
    assert "reproduced (was wide tolerance)</span>" in " ".join(page.split())
    rule = '<th scope="row">uniform_proxy</th> <td class="wrap">2.6, multi30k 0.7, '
    assert rule in " ".join(page.split())


def test_cost_is_time_of_training_not_the_pause_between(text: str) -> None:
    assert "<td>4.2</td>" in text and "1500.0" not in text


def test_an_empty_scale_has_a_page() -> None:
    text = render("lite")
    Page(text)
    assert "No table or figure has been made" in text
    assert "No run has been trained" in text


def test_demo_and_overlay_say_what_they_are(results: Results, paper: Paper) -> None:
    results.add("stack_language", "uniform_soft", 0)
    assert "none of its numbers can be compared" in fill(results, paper, "demo")
    assert "settings differ from those of the scale lite" in fill(results, paper, "lite+mine")


def test_a_page_says_what_to_click_and_tables_that_were_not_run_come_last(
    results: Results, paper: Paper
) -> None:
    """A single run is behind the stack language's table, and none behind the thesis's."""
    results.add("stack_language", "uniform_soft", 0)
    text = html.unescape(fill(results, paper))
    example = re.search(r'Click a number to see its runs, for example <a href="#([^"]+)"', text)
    assert example and example[1].startswith("discrete_transformer/stack_language/")
    assert f'id="{example[1]}"' in text
    empty = text.index('id="empty/kinley2020"')
    assert text.index('id="discrete_transformer/table_6_1"') > empty
    assert 'id="empty/discrete2020"' not in text
    assert "Click a number" not in render("lite")


def test_where_nothing_compares_no_printed_number_is_below_what_was_not_run(
    results: Results, paper: Paper
) -> None:
    results.add("text_classification", "sst_soft", 0)
    below = re.compile(r'>not run</a>\s*<span class="printed">')
    lite, demo = (html.unescape(fill(results, paper, scale)) for scale in ("lite", "demo"))
    assert not below.search(demo)
    assert "not run</a>" in demo and 'class="printed"' in lite


def test_a_run_shows_its_curve_and_seeds_before_its_settings(single: str) -> None:
    entry = single.partition('<div class="entry">')[2].partition("All settings")[0]
    places = [entry.index(one) for one in ("<svg", 'class="seeds"', 'class="command"')]
    assert places == sorted(places)


@pytest.mark.parametrize("name", ["history.jsonl", "table_6_1.csv", "table_6_1.json"])
def test_what_is_damaged_is_not_shown(results: Results, paper: Paper, name: str) -> None:
    results.add("text_classification", "sst_soft", 0)
    made = results.folder / "tables" / paper.name / "table_6_1"
    tabulate(paper, "table_6_1", "lite", results.read(), made)
    assert '<svg class="curves"' in show(results)
    (path,) = results.folder.rglob(name)
    flip(path, 99)
    with pytest.raises(Damaged, match=f"{name} is damaged") as error:
        show(results)
    assert error.value.path == path


def test_a_page_has_its_checksum_beside_it(tmp_path: Path) -> None:
    write_page(tmp_path / "report.html", render("lite"))
    (listed,) = read_verified(tmp_path / "report.json")["files"]
    assert listed == "report.html"


def test_a_claim_over_proportions_shows_its_runs(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "kind_of", lambda claim, departures: "another reading")
    paper = Paper("discrete_transformer")
    claim = {**paper.claims["claims"][0], "over": "proportions", "measure": "probe.learned"}
    claim |= {"id": "toy", "experiment": "toy", "label": "learned", "digits": 2}
    claim |= {side: {"variant": side, "label": f"the {side}"} for side in ("left", "right")}
    paper.claims["claims"] = [claim, {**claim, "id": "other"}]
    runs = Measures([*outcomes("left", [1, 1, 1]), *outcomes("right", [0, 0], first=7)])
    write_json(results.folder / "claims" / f"{paper.name}.json", judge(paper, "lite", runs))
    text = " ".join(show(results).split())
    Page(text)
    # of 3 of 3 runs, Wilson's interval reaches down to .4385, of 0 of 2 up to .6576
    assert "the left: 1.00 (3 of 3 runs) vs the right: 0.00 (0 of 2 runs)" in text
    assert "<td>+1.00 [+0.14, +1.00]<br><svg" in text
    assert ">5 runs (seeds 0, 1, 2, 7, 8)</div>" in text
    why = "Fisher's exact test: p = .2. Kind: another reading. Note: 1 other claim uses exactly"
    assert why in html.unescape(text)


def test_charts_are_valid_and_in_range() -> None:
    points = [(0.0, 2.0), (50.0, float("nan")), (100.0, 1.0)]
    svg = ElementTree.fromstring(chart([ChartLine("train", points)], 'a "title" & more', "step"))
    assert svg.attrib["aria-label"] == 'a "title" & more'
    (line,) = (node for node in svg if node.tag == "polyline")
    pairs = [tuple(map(float, pair.split(","))) for pair in line.attrib["points"].split()]
    assert len(pairs) == 2
    assert pairs[0][0] < pairs[1][0] and pairs[0][1] < pairs[1][1]
    assert chart([ChartLine("train", [])], "nothing", "step") == ""
    flat = chart([ChartLine("train", [(5.0, 1.0)])], "one point", "step")
    ElementTree.fromstring(flat)
    interval = ElementTree.fromstring(whisker((0.1, 0.3), 0.2, 0.4, (0.0,), "interval", "holds"))
    (estimate,) = (node for node in interval if node.tag == "circle")
    (paper,) = (node for node in interval if node.attrib.get("class") == "paper")
    assert 90 < float(estimate.attrib["cx"]) < float(re.findall(r"[\d.]+", paper.attrib["d"])[0])
    assert interval.attrib["class"] == "whisker holds"
    line = whisker((0.1, 0.3), 0.2, None, (0.0,), "interval", "holds")
    assert '"paper"' not in line and '"band"' not in line
    assert '"band"' in whisker((0.1, 0.3), 0.2, None, (-0.5, 0.5), "interval", "holds")


def test_the_clearest_failure_is_first(results: Results, paper: Paper) -> None:
    fill(results, paper)
    path = results.folder / "claims" / f"{paper.name}.json"
    failed = {"verdict": "does not hold", "direction": "greater", "margin": 0.0, "check": False}
    intervals = [(-3.0, -1.0), (-2.2, -1.8), (-9.0, -0.1)]  # 2, 10 and about 1 half-widths off

    def fail(told: dict[str, Any]) -> None:
        for at, (low, high) in enumerate(intervals):
            ends = {"estimate": (low + high) / 2, "ci_low": low, "ci_high": high}
            told["claims"][at] |= {**failed, **ends, "kind": KINDS[at % 2]}

    change(path, fail)
    shown = page_claims.shown(paper, path, Caveats([], []))
    order = [told["id"] for told in read_json(path)["claims"][:3]]
    assert [one.claim.id for one in shown[:3]] == [order[1], order[0], order[2]]
    said = "Those that do not hold were tried on the paper's setting (2), the paper's data, shorter"
    assert f"{said} training (1)." in html.unescape(show(results))
    assert overview.failed([]) == ""
    change(path, lambda told: told["claims"][0].update(kind=TASK))
    fewer = html.unescape(show(results))
    assert "tried on the paper's setting (1), the paper's data, shorter training (1)." in fewer
    assert "⊖</span>" in fewer


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0, 1000, [0, 500, 1000]), (0.82, 1.6, [1.0, 1.2, 1.4, 1.6]), (3, 3, [3])],
)
def test_ticks_are_round_numbers(low: float, high: float, expected: list[float]) -> None:
    assert ticks(low, high) == pytest.approx(expected)


def test_the_terms_of_the_data_are_shown(results: Results) -> None:
    results.add("text_classification", "sst_soft", 0)
    results.add("stack_language", "uniform_soft", 0)
    page = render("lite", recorded(results.runs))
    terms = page.partition('id="licences-title"')[2].partition("</section>")[0]
    rows = dict(re.findall(r'<th scope="row">(\w+)</th><td class="wrap">(.*?)</td>', terms))
    assert list(rows) == ["sst", "stack_language"]
    assert rows["sst"].startswith("Stanford Sentiment Treebank")
    assert rows["stack_language"] == "generated by this workflow"
    assert "stsa.binary.train" in terms and "stsa.fine.train" not in terms


def test_a_run_of_two_experiments_costs_once(results: Results) -> None:
    path = results.add("text_classification", "sst_soft", 0)
    once = render("lite", recorded(results.runs))
    (record,) = results.runs
    copy = record.parents[2] / "again" / "seed-0" / "run.json"
    shutil.copytree(record.parent, copy.parent)
    change(copy, lambda run: run["spec"]["run"].update(variant="again"))
    twice = render("lite", recorded(results.runs))
    assert path and "text_classification/again" in twice

    def cost(page: str) -> str:
        return page.partition('id="cost"')[2].partition("</section>")[0]

    assert cost(once) == cost(twice)
