"""Tokens as people write them."""

from collections.abc import Iterable, Sequence


def typeset(tokens: Sequence[str]) -> str:
    """Return a sentence with a capital at its start and no space before marks."""
    text = tokens[0]
    for token in tokens[1:]:
        text += token if token[0] in ",;.?'" else f" {token}"
    return text[:1].upper() + text[1:]


def prose(sentences: Iterable[Sequence[str]]) -> str:
    """Return sentences as running text."""
    return " ".join(map(typeset, sentences))
