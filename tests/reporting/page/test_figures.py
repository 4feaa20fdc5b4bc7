"""A figure is beside the table of its runs."""

from dataclasses import dataclass

from workflow.reporting.page.figures import placed


@dataclass(frozen=True)
class Part:
    name: str
    identities: frozenset[str]
    own: bool = False
    title: str = ""


def test_a_figure_is_beside_the_table_of_its_runs_and_rather_the_papers_own() -> None:
    figure = Part("figure", frozenset("abc"))
    fewer, beyond = Part("fewer", frozenset("ab"), own=True), Part("beyond", frozenset("abc"))
    paper, wider = Part("paper", frozenset("abcd"), True), Part("wider", frozenset("abcdef"), True)
    for tables, best in (
        ([fewer, beyond], beyond),
        ([fewer, beyond, wider, paper], paper),
    ):
        beside, alone = placed([figure], tables)
        assert beside[best.name] == [figure] and not alone
    other = Part("other", frozenset("z"))
    assert placed([other], [paper]) == ({"paper": []}, [other])


def test_a_figure_of_the_paper_is_with_its_number_and_not_where_its_runs_happen_to_be() -> None:
    figure = Part("figure", frozenset("ab"), title="Figure 4 (paper2020): words")
    sizes = Part("sizes", frozenset("ab"), own=True, title="Section A.8: sizes")
    numbers = Part("numbers", frozenset("abc"), title="Figure 4 in a number: words")
    assert placed([figure], [sizes]) == ({"sizes": []}, [figure])
    assert placed([figure], [sizes, numbers]) == ({"sizes": [], "numbers": [figure]}, [])
