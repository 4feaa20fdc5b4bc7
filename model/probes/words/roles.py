"""Which tokens take which roles (weissenborn2019 table 3, 4, 5), and what these tell of classes of
words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy.stats import entropy

from model.batches.batching import BOS
from model.batches.corpus import Corpus, Split, read_lines
from model.batches.pairs import EOS, pairs_in_order
from model.probes.measure import Measured, Subject, scalar
from model.probes.words.subwords import vocabulary
from model.probes.words.word_classes import LEXICON, word_classes

NONE = "–"
"""In the place of a list that is empty."""
DRAWS = 20
"""Permutations that tell what roles seem to know by chance."""


class Assigned(NamedTuple):
    """The tokens of one side of a split, without what marks a sentence's ends, in its order.

    Attributes:
        tokens: (M,) ids.
        roles: (M,) each one's largest role.
        offsets: (N + 1,) where the sentences begin.
        number: R.
    """

    tokens: np.ndarray
    roles: np.ndarray
    offsets: np.ndarray
    number: int


def roles(
    subject: Subject,
    split: str = "dev",
    side: str = "source",
    typical: int = 8,
    examples: int = 3,
    around: int = 2,
    tagged: Corpus | None = None,
) -> Measured:
    """Roles of one side's tokens: how often, which tokens, where, and of which classes.

    A token's class is that of its word: in a corpus with a lexicon the one that stands there, else
    its part of speech where `tagged` knows it, else one that the form tells (see `word_classes`).

    Args:
        subject: a trained `RoleEncoderDecoder` and its data; a token that has several roles counts
            for its largest.
        split: what is read.
        side: `source`, or `target` for the references.
        typical: tokens of each role, by their share in the mutual information of tokens and roles.
        examples: of each role's most typical tokens in their sentences.
        around: tokens before and after each of them.
        tagged: English text with the column `pos`, for a side that is English; a word's part of
            speech is its most frequent one there.

    Returns:
        Scalars `used`, the roles that some token takes, and `class_information`, the mutual
        information of roles and classes divided by the mean of their entropies, and, in a corpus
        with a lexicon, `context_information`, the share of what the tokens leave open of their
        classes that the roles tell beyond chance: 0 for roles that the token alone decides, and
        about 0 for roles at random. Arrays by rank, the
        most frequent role first: `word`, the rank itself, and lists of text for each, `role`,
        `frequency`, `typical`, `examples`, their token between `›` and `‹`, and `classes`. For a
        figure `class`, the most frequent first, and `class_counts`, for each of them how many
        tokens of each rank.
    """
    symbols = vocabulary(subject.corpus, side)
    tokens = assigned(subject, split, side)
    of_token = word_classes(subject.corpus, tokens.tokens, tokens.offsets, split, side, tagged)
    classes = [name for name, _ in Counter(of_token).most_common()]
    numbers = np.array([classes.index(name) for name in of_token])
    counts = np.bincount(tokens.roles, minlength=tokens.number)
    ranked = [int(role) for role in np.argsort(-counts, kind="stable")]
    by_class = table(numbers, tokens.roles, (len(classes), tokens.number))
    by_token = table(tokens.tokens, tokens.roles, (len(symbols), tokens.number))
    shares = information(by_token)
    arrays: dict[str, list[Any]] = {"word": [str(rank + 1) for rank in range(len(ranked))]}
    arrays |= {name: [] for name in ("role", "frequency", "typical", "examples", "classes")}
    for role in ranked:
        best = np.argsort(-shares[:, role], kind="stable")[:typical]
        chosen = [int(token) for token in best if by_token[token, role]]
        arrays["role"].append([str(role)])
        arrays["frequency"].append([str(counts[role])])
        arrays["typical"].append([symbols[token] for token in chosen] or [NONE])
        places = [_first(tokens, token, role) for token in chosen[:examples]]
        shown = [in_context(tokens, symbols, place, around) for place in places]
        arrays["examples"].append(shown or [NONE])
        parts = 100 * by_class[:, role] / max(counts[role], 1)
        of_role = [f"{classes[c]} {parts[c]:.0f} %" for c in _largest(parts)]
        arrays["classes"].append(of_role or [NONE])
    has_lexicon = (subject.corpus.folder / LEXICON).is_file()
    of_context = context_information(tokens.tokens, tokens.roles, numbers) if has_lexicon else None
    arrays |= {"class": classes, "class_counts": by_class[:, ranked].tolist()}
    scalars = {
        "used": scalar(int((counts > 0).sum()), "roles", n=tokens.number),
        "class_information": scalar(normalised_information(by_class), "1", n=len(numbers)),
        "context_information": scalar(of_context, "1", n=len(numbers)),
    }
    return Measured(scalars, arrays)


def token_roles(
    subject: Subject,
    token: str = "der",
    split: str = "dev",
    examples: int = 2,
    around: int = 2,
) -> Measured:
    """The roles of one token of the source in its sentences, as in weissenborn2019 table 4.

    Args:
        subject: a trained `RoleEncoderDecoder` and its data.
        token: a sub-word of the source as the vocabulary has it.
        split: whose sources are read.
        examples: of each role, the first ones of different sentences.
        around: tokens before and after it.

    Returns:
        Scalars `count`, how often the token occurs, and `roles`, how many roles it takes. Arrays by
        rank, its most frequent role first: `word`, the rank itself, and lists of text for each,
        `role`, `frequency`, `examples` and `translations`, the references of their sentences; as
        many ranks as there are roles.

    Raises:
        ValueError: the vocabulary lacks the token; the nearest ones are told.
    """
    symbols = vocabulary(subject.corpus, "source")
    if token not in symbols:
        near = get_close_matches(token, symbols, n=3, cutoff=0.5)
        hint = f"nearest: {', '.join(near)}" if near else "take one of vocabulary.txt"
        raise ValueError(f"token '{token}' is not in the vocabulary of the source; {hint}.")
    tokens = assigned(subject, split, "source")
    references = read_lines(subject.corpus, split, "reference")
    places = np.flatnonzero(tokens.tokens == symbols.index(token))
    counted = Counter(tokens.roles[places].tolist()).most_common()
    arrays: dict[str, list[Any]] = {"word": [str(rank + 1) for rank in range(tokens.number)]}
    arrays |= {name: [] for name in ("role", "frequency", "examples", "translations")}
    for role, count in counted:
        chosen: dict[int, int] = {}
        for place in places[tokens.roles[places] == role]:
            chosen.setdefault(_sentence(tokens, place), int(place))
        first = list(chosen.items())[:examples]
        arrays["role"].append([str(role)])
        arrays["frequency"].append([str(count)])
        arrays["examples"].append([in_context(tokens, symbols, p, around) for _, p in first])
        arrays["translations"].append([f"'{references[sentence]}'" for sentence, _ in first])
    for lists in arrays.values():
        lists += [[NONE]] * (tokens.number - len(lists))
    scalars = {
        "count": scalar(len(places), "tokens"),
        "roles": scalar(len(counted), "roles", n=len(places)),
    }
    return Measured(scalars, arrays)


def assigned(subject: Subject, split: str, side: str, tokens: int = 4096) -> Assigned:
    """The role of every token of a side of a split.

    Raises:
        ValueError: the model assigns none.
    """
    data: Split = subject.corpus.split(split)
    model: Any = subject.model
    if not hasattr(model, "assign"):
        raise ValueError(
            f"a {type(model).__name__} assigns no roles; measure roles of a RoleEncoderDecoder."
        )
    of_sentence: list[tuple[np.ndarray, np.ndarray]] = [(np.empty(0), np.empty(0))] * len(data)
    with torch.no_grad():
        for batch in pairs_in_order(data, tokens, subject.device):
            words, layout = batch.source, batch.source_layout
            if side == "target":
                words, layout = batch.tokens[:, :-1], batch.layout
            largest = model.assign(words, layout, side).argmax(-1).cpu().numpy()
            ids = layout.pack(words).cpu().numpy()
            # Each sentence has one mark: EOS behind the source, BOS before the target.
            kept = (ids != EOS) & (ids != BOS)
            ends = (layout.real.sum(1) - 1).cumsum(0).cpu().numpy()[:-1]
            parts = (np.split(values[kept], ends) for values in (ids, largest))
            for example, *columns in zip(batch.examples, *parts, strict=True):
                of_sentence[example] = (columns[0], columns[1])
    offsets = np.cumsum([0, *(len(ids) for ids, _ in of_sentence)])
    ids, largest = (np.concatenate(parts).astype(int) for parts in zip(*of_sentence, strict=True))
    return Assigned(ids, largest, offsets, model.roles.number)


def table(rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """How often each pair occurs, (rows, columns)."""
    counts = np.zeros(shape, np.int64)
    np.add.at(counts, (rows, columns), 1)
    return counts


def information(counts: np.ndarray) -> np.ndarray:
    """What each pair adds to the mutual information of rows and columns, in nats.

    Args:
        counts: how often each pair occurs, (rows, columns).

    Returns:
        (rows, columns); a part may be negative, their sum is not.
    """
    p = counts / counts.sum()
    independent = p.sum(1, keepdims=True) * p.sum(0, keepdims=True)
    ratio = np.divide(p, independent, out=np.ones_like(p), where=p > 0)
    parts: np.ndarray = p * np.log(ratio)
    return parts


def normalised_information(counts: np.ndarray) -> float | None:
    """Mutual information of rows and columns by the mean of their entropies; None where both are 0.

    It is the "arithmetic" one of Vinh et al. (2010), between 0 and 1; counts are (rows, columns).
    """
    mean = float(entropy(counts.sum(0)) + entropy(counts.sum(1))) / 2
    return float(information(counts).sum()) / mean if mean else None


def context_information(tokens: np.ndarray, roles: np.ndarray, classes: np.ndarray) -> float | None:
    """I(role; class | token) / H(class | token), each less what roles tell by chance.

    With many roles and few tokens any roles tell something of the classes. By chance is what they
    tell, in the mean, when the roles are permuted among the places of each token.

    Args:
        tokens: (M,) ids.
        roles: (M,) numbers.
        classes: (M,) numbers.

    Returns:
        At most 1; None where the token, or chance, leaves nothing open.
    """
    left_open = _joint_entropy(classes, tokens) - _joint_entropy(tokens)
    told = left_open - _joint_entropy(classes, tokens, roles) + _joint_entropy(tokens, roles)
    random, places = np.random.default_rng(0), np.argsort(tokens, kind="stable")
    by_chance = np.empty(DRAWS)
    for draw in range(DRAWS):
        permuted = np.empty_like(roles)
        permuted[places] = roles[np.lexsort((random.random(len(tokens)), tokens))]
        with_roles = _joint_entropy(classes, tokens, permuted) - _joint_entropy(tokens, roles)
        by_chance[draw] = left_open - with_roles
    possible = left_open - by_chance.mean()
    return float((told - by_chance.mean()) / possible) if possible > 1e-9 else None


def _joint_entropy(*columns: np.ndarray) -> float:
    """The joint entropy of columns of numbers (M,), in nats."""
    return float(entropy(np.unique(np.stack(columns), axis=1, return_counts=True)[1]))


def in_context(side: Assigned, symbols: Sequence[str], place: int, around: int) -> str:
    """A token between marks, with those around it in its sentence, in quotes."""
    sentence = _sentence(side, place)
    first = max(place - around, side.offsets[sentence])
    last = min(place + around + 1, side.offsets[sentence + 1])
    pieces = [symbols[i] for i in side.tokens[first:last]]
    pieces[place - first] = f"›{pieces[place - first]}‹"
    return f"'{' '.join(pieces)}'"


def _sentence(side: Assigned, place: int) -> int:
    """The sentence that a token stands in."""
    return int(np.searchsorted(side.offsets, place, side="right")) - 1


def _first(side: Assigned, token: int, role: int) -> int:
    """Where a token first has a role."""
    return int(np.flatnonzero((side.tokens == token) & (side.roles == role))[0])


def _largest(parts: np.ndarray) -> list[int]:
    """The classes that make up most of a role, of shares (C,) in %: at most three, none below 5."""
    order = np.argsort(-parts, kind="stable")[:3]
    return [int(c) for c in order if parts[c] >= 5]
