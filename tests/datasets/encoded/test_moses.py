"""Words as Moses splits them."""

import pytest

from workflow.datasets.encoded.moses import Moses, Pair

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
        ("fi", "SAK:n ja 20:een: EU:ssa (USA:s):", "sak:n ja 20:een : eu:ssa ( usa:s ) :"),
        ("fi", "EU:N ::n", "eu : n : :n"),
        ("sv", "S:t Eriks 'kyrka' 10:30", "s:t eriks &apos; kyrka &apos; 10 : 30"),
        ("de", "SAK:n", "sak : n"),
        ("en", " ", ""),
    ],
)
def test_words_by_hand(language, text, words):
    assert MOSES.words(text, language) == words


def test_no_word_has_a_space_or_is_empty():
    # sacremoses leaves two spaces before the stop here.
    assert MOSES.words("on a motorcycle.'", "en") == "on a motorcycle . &apos;"


def test_punctuation_is_made_uniform_where_asked_for():
    text = "„Ja“ – so…"
    assert MOSES.words(text, "de") == "„ ja “ – so …"
    uniform = Moses(("de", "en"), lowercase=False, normalise=True)
    assert uniform.words(text, "de") == "&quot; Ja &quot; - so ..."


def test_uniform_words_are_those_of_multi30ks_own_preparation():
    """Capitals go first, so a stop before a small letter ends no sentence; the lines are real."""
    text = "Zwei Jungen spielen Fußball. Der rot Gekleidete hat gerade den Ball gekickt."
    assert MOSES.words(text, "de").startswith("zwei jungen spielen fußball . der rot")
    uniform = Moses(("de", "en"), lowercase=True, normalise=True)
    assert uniform.words(text, "de") == (
        "zwei jungen spielen fußball. der rot gekleidete hat gerade den ball gekickt ."
    )
    text = "auf dem steht: „Come on now ... what's gayer than tea.“"
    assert uniform.words(text, "de") == (
        "auf dem steht : &quot; come on now ... what &apos; s gayer than tea &quot; ."
    )


def test_pairs_keep_the_translation_as_it_was():
    assert list(MOSES.pairs([("Ja, gut.", "Yes, good."), ("Zwei", "Two")])) == [
        Pair("ja , gut .", "yes , good .", "Yes, good."),
        Pair("zwei", "two", "Two"),
    ]
