"""Python splits what is typed as the page does."""

from tests.reporting.conftest import Open
from workflow.reporting.explorer.typed import split_symbols, split_text

KNOWN = ["this", "n't", "'s", "film", "t-shirt", "can't", "<unk>", "-lrb-", "...", "12", "(", "3"]
TYPED = [
    "This ISN'T a “good” film’s… end – or (so) [it] seems!!!",
    '"Quoted" text, cannot say "more" and/or 1\\/2 a*b don\'t can\'t t-shirt\'s well-made',
    "naïve café ﬁn e\u0301te\u0301 Ünïcode दुनिया 3.5 1,000 user@mail.com ½ x² _y_ -- '' ``",
    "  tabs\tand\nlines\r\vmix \u00a0 <unk> . . . it'll they've I'd you're o'clock 'tis 12(3)",
    "",
]
SPLIT = """([known, typed]) => {
  const words = new Map(known.map((word, number) => [word, number]));
  const both = (text) => [splitText(words, text), splitSymbols(words, text)];
  return typed.map((text) => both(text).map((all) => all.filter(Boolean)));
}"""


def test_what_is_typed_has_the_words_that_the_page_gives_it(opened: Open) -> None:
    for text, (words, symbols) in zip(TYPED, opened().evaluate(SPLIT, [KNOWN, TYPED]), strict=True):
        assert [*filter(None, split_text(text, KNOWN))] == words
        assert [*filter(None, split_symbols(text, KNOWN))] == symbols
    assert split_text("It ISN'T (so) bad.", []) == [
        "it",
        "is",
        "n't",
        "-lrb-",
        "so",
        "-rrb-",
        "bad",
        ".",
    ]
