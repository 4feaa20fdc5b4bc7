"""Symbols and the papers' own order."""

import pytest

from workflow.reporting.tables.names import number_of, papers_order, symbols


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("A(alpha,beta_uf)", "A(α,βᵘᶠ)"),
        ("xi(Delta, beta_px) beside xi_star", "ξ(Δ, βᵖˣ) beside ξ*"),
        ("A_hat is A-hat", "Â is Â"),
        ("alpha-entmax, learned", "α-entmax, learned"),
        ("tau_norm, taught, model.alpha", "tau_norm, taught, model.alpha"),
    ],
)
def test_symbols_stand_in_the_place_of_their_names(text: str, shown: str) -> None:
    assert symbols(text) == shown


def test_titles_are_in_the_order_of_the_paper() -> None:
    titles = ["More", "Section A.1: e", "Table 10: c", "Figure 1: d", "Table 6.2: b", "Table 2: a"]
    assert [title[:7] for title in sorted(titles, key=papers_order)] == [
        *("Table 2", "Table 6", "Table 1", "Figure ", "Section", "More")
    ]
    assert number_of("Table 6.2: b") == "Table 6.2" and number_of("Tables compared") == ""
