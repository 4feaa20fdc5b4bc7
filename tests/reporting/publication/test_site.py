"""The static site: each link leads to a place of it, and a browser complains of nothing."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.reporting.conftest import Open
from workflow import ROOT
from workflow.definitions.paper import Paper
from workflow.reporting.claims.caveats import Caveats
from workflow.reporting.page.claims import shown
from workflow.reporting.publication.site import site_of
from workflow.runtime.errors import ReportingError

ELSEWHERE = "reproduction/lite/report.html"
BAR = {"Home": "index.html", "Results": "reproduction/lite/index.html", "Report": ELSEWHERE}
BAR["Explorer"] = "reproduction/lite/explorer.html"
PAGES = ("index", "results", "reproduction/lite/index", "reproduction/lite/snell2021")


class Links(HTMLParser):
    """What a page links to, and the places in it that links can lead to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the attributes that matter."""
        for name, value in attrs:
            if name in ("href", "src"):
                self.links.append(value or "")
            elif name == "id":
                self.ids.add(value or "")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the project's site, without report and explorer."""
    folder = tmp_path_factory.mktemp("site")
    for place, content in site_of(ROOT, BAR).items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_bytes(content)
    return folder


def test_every_link_leads_to_a_place_of_the_site(file: Path) -> None:
    for made in (ELSEWHERE, BAR["Explorer"]):
        (file / made).touch()
    pages = {page: Links(page.read_text("utf-8")) for page in file.rglob("*.html")}
    guides = {one.with_suffix(".html").name for one in (ROOT / "docs").glob("*.md")}
    assert guides <= {page.name for page in pages}
    sources = [ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("docs/*/lite/*.md")]
    said = "".join(one.read_text("utf-8") for one in sources)
    for page, found in pages.items():
        for link in found.links:
            if link.startswith("https://"):
                assert link in said, (page, link)
                continue
            path, _, anchor = link.partition("#")
            to = (page.parent / unquote(path)).resolve() if path else page
            assert link == "data:," or (to.is_file() and to.is_relative_to(file)), (page, link)
            elsewhere = to not in pages or to.name in ("report.html", "explorer.html")
            assert not anchor or elsewhere or anchor in pages[to].ids, (page, link)


def test_a_mark_has_its_colour_and_leads_to_the_report(file: Path) -> None:
    """What was not run is not in the report: its link leads to the entry."""
    page = (file / "reproduction/lite/discrete2020.html").read_text("utf-8")
    claims = page.partition('<table class="claims">')[2]
    marks = re.findall(r'<a href="([^"]+)"><span class="mark ([\w-]+)">(.)</span></a>', claims)
    address = "report.html#claim/discrete_transformer/precision_uniform"
    assert (address, "holds", "✓") in marks
    paper = Paper("discrete_transformer")
    given = ROOT / "docs/reproduction/lite/claims/discrete_transformer.json"
    known = {one.address for one in shown(paper, given, Caveats([], []))}
    assert {link.partition("#")[2] for link, *_ in marks} <= known
    assert 'href="report.html#discrete_transformer/stack_language"' in claims
    assert "claims/discrete_transformer.json" in claims


def test_the_examples_of_the_explorer_are_links(file: Path) -> None:
    guide = (file / "explorer.html").read_text("utf-8")
    links = re.findall(r'<a href="reproduction/lite/explorer.html#(task=[^"]+)"', guide)
    assert links == [
        one.replace("&", "&amp;")
        for one in re.findall(r"^#(task=.+)$", (ROOT / "docs/explorer.md").read_text(), re.M)
    ]
    assert len(links) > 3 and "#task" not in re.sub('href="[^"]+"', "", guide)


def test_the_folder_docs_can_be_the_site(file: Path) -> None:
    """What is not made for the site lies where it lies in docs/, and is the same."""
    copied = [one for one in file.rglob("*.*") if one.suffix not in (".html", ".css", "")]
    copied = [one for one in copied if one.name != ".nojekyll"]
    assert len(copied) > 50
    for one in copied:
        assert one.read_bytes() == (ROOT / "docs" / one.relative_to(file)).read_bytes()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_browser_opens_pages_at_every_width(file: Path, opened: Open, scheme: str) -> None:
    for name in (*PAGES, "source/model/normalizers/gumbel.py", "source/model/normalizers/index"):
        page = opened(f"/{name}.html", of=file, color_scheme=scheme)
        for width in (1300, 400):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") == width, name
        assert page.locator("h1").count() == 1
        images = "[...document.images].every((it) => it.complete && it.naturalWidth)"
        assert page.evaluate(images), name


def test_pages_of_code_and_folders(tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code/a b.py").write_text('x = "<1>"\ny = 2\n')
    (tmp_path / "README.md").write_text("# A `title`\n\n[x](code) [y](<code/a b.py#L2>)\n")
    files = site_of(tmp_path, {"Home": "index.html"})
    first = files["index.html"].decode()
    assert "<title>A title · Saccade</title>" in first and '<h1 id="a-title">' in first
    assert '<a href="index.html" aria-current="page">Home</a>' in first
    assert '"source/code/index.html"' in first and '"source/code/a%20b.py.html#L2"' in first
    assert '<a href="a%20b.py.html">' in files["source/code/index.html"].decode()
    code = files["source/code/a b.py.html"].decode()
    assert re.findall('<span id="L.">.*', code) == [
        '<span id="L1">x = &quot;&lt;1&gt;&quot;</span>',
        '<span id="L2">y = 2</span></pre>',
    ]


@pytest.mark.parametrize("link", ["gone.md", "../outside.md"])
def test_a_link_that_leads_nowhere_is_refused(tmp_path: Path, link: str) -> None:
    (tmp_path / "outside.md").touch()
    root = tmp_path / "project"
    root.mkdir()
    (root / "README.md").write_text(f"# Title\n\n[it]({link})\n")
    with pytest.raises(ReportingError, match=rf"README\.md: it links to {link}, which is not"):
        site_of(root, {})
