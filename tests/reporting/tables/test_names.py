"""The papers' own order."""

from workflow.reporting.tables.names import number_of, papers_order


def test_titles_are_in_the_order_of_the_paper() -> None:
    titles = ["More", "Section A.1: e", "Table 10: c", "Figure 1: d", "Table 6.2: b", "Table 2: a"]
    assert [title[:7] for title in sorted(titles, key=papers_order)] == [
        *("Table 2", "Table 6", "Table 1", "Figure ", "Section", "More")
    ]
    assert number_of("Table 6.2: b") == "Table 6.2" and number_of("Tables compared") == ""
