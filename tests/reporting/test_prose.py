"""Texts of definitions on a page: symbols, what concerns the demo, and captions in short."""

import pytest

from workflow.reporting.prose import shortened, symbols, without_demo


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("A(alpha, beta_uf)", "A(α, βᵘᶠ)"),
        ("xi(Delta,beta) and xi_star", "ξ(Δ,β) and ξ*"),
        ("A_hat, A-hat and alpha_hat", "Â, Â and α\u0302"),
        ("tau_norm, taught, model.alpha", "tau_norm, taught, model.alpha"),
        ("alpha-entmax, learned", "α-entmax, learned"),
        ("`tau` is tau", "`tau` is τ"),
        ("alphabet, Beta, best_alpha, a/alpha.csv", "alphabet, Beta, best_alpha, a/alpha.csv"),
    ],
)
def test_symbols_are_as_the_papers_write_them(text: str, shown: str) -> None:
    assert symbols(text) == shown


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("One. In the demo 12 symbols take the place of 40. Two.", "One. Two."),
        ("Theirs is of En-Vi; the demo's corpus is generated.", "Theirs is of En-Vi."),
        ("Twelve turns (in the demo three) are timed.", "Twelve turns are timed."),
        ("The demo has a generated text.", ""),
        ("It is demonstrated.", "It is demonstrated."),
    ],
)
def test_what_a_text_says_of_the_demo_is_left_out(text: str, kept: str) -> None:
    assert without_demo(text) == kept


def test_a_text_is_cut_between_sentences() -> None:
    assert shortened("One two. Three four. Five.", 4) == ("One two. Three four.", "Five.")
    assert shortened("One two three.", 2) == ("One two three.", "")
