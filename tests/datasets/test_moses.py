"""Words as Moses splits them."""

import pytest

from workflow.datasets.moses import Moses, Pair

MOSES = Moses(("de", "en"), lowercase=True)


@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        ("en", "It's a pyramid, isn't it?", "it &apos;s a pyramid , isn &apos;t it ?"),
        ("en", 'Dr. Smith\'s "A & B"', "dr. smith &apos;s &quot; a &amp; b &quot;"),
        ("en", "[1,000 | 2.5%]", "&#91; 1,000 &#124; 2.5 % &#93;"),
        ("de", "Das ist z. B. der 3. Teil.", "das ist z. b. der 3. teil ."),
        ("en", "all the roads in the U.S.", "all the roads in the u.s ."),
        ("en", "and so on ...", "and so on ..."),
        ("en", "Wait...", "wait ..."),
        ("de", "ungefähr 120\xa0cm  hoch ", "ungefähr 120 cm hoch"),
        ("en", " ", ""),
    ],
)
def test_words_by_hand(language: str, text: str, words: str) -> None:
    assert MOSES.words(text, language) == words


def test_no_word_has_a_space_or_is_empty() -> None:
    # sacremoses leaves two spaces before the stop here.
    assert MOSES.words("on a motorcycle.'", "en") == "on a motorcycle . &apos;"


def test_punctuation_is_made_uniform_where_asked_for() -> None:
    text = "„Ja“ – so…"
    assert MOSES.words(text, "de") == "„ ja “ – so …"
    uniform = Moses(("de", "en"), lowercase=False, normalise=True)
    assert uniform.words(text, "de") == "&quot; Ja &quot; - so ..."


def test_capitals_go_before_punctuation_is_made_uniform() -> None:
    """As in Multi30k's own preparation, where a stop before a small letter ends no sentence."""
    text = "Zwei Jungen spielen. Der Rote lacht."
    assert MOSES.words(text, "de") == "zwei jungen spielen . der rote lacht ."
    uniform = Moses(("de", "en"), lowercase=True, normalise=True)
    assert uniform.words(text, "de") == "zwei jungen spielen. der rote lacht ."


def test_pairs_keep_the_translation_as_it_was() -> None:
    assert list(MOSES.pairs([("Ja, gut.", "Yes, good."), ("Zwei", "Two")])) == [
        Pair("ja , gut .", "yes , good .", "Yes, good."),
        Pair("zwei", "two", "Two"),
    ]
