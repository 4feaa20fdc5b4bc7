"""Settings that cannot be are refused, each with a sentence that says what may be."""

import re

import pytest
import torch

from model.architectures.multihead_copying import MultiheadCopyingModel
from model.architectures.transformer import Transformer
from model.architectures.translation.beam_search import Beam
from model.kernels.dropout import Dropout
from model.layers.attention import Routing
from model.layers.blocks import Embedding
from model.layers.receptive_field import receptive_field
from model.layers.role_interaction import RoleInteraction, Roles
from model.normalizers.entmax_bisect import EntmaxBisect
from model.normalizers.gumbel import Gumbel
from model.normalizers.softmax import Softmax
from model.normalizers.topk import TopK, TopKOfMany
from model.objectives.fewest_edges import FewestEdges, open_share
from model.objectives.language_modelling import LanguageModelling
from model.objectives.role_translation import RoleTranslation
from model.objectives.translation import Translation
from model.probes.learning.agreement import xi
from tests.model.translators import SIZES, make, make_roles

COOLING = "must fall to a positive lowest one by a decay of at"
HEADS = "and heads is 3; give every head a seed of its own."


def heads(seeds):
    return MultiheadCopyingModel(12, 6, 5, heads=3, normalizer=Softmax(), head_seeds=seeds)


CASES = [
    (lambda: Routing(10, 3), "width 10 is not a multiple of 3 heads"),
    (lambda: Embedding(5, 4, "random", 8, 0.0), "positions must be"),
    (lambda: Transformer(5, **SIZES, normalizer=Softmax(), norm="mid"), "norm must be"),
    (lambda: Dropout(1.0), "dropout must be"),
    (lambda: LanguageModelling(sparsity=-1), "must not be negative"),
    (lambda: FewestEdges(bound=0), "must be positive"),
    (lambda: open_share([], torch.ones(1, 1)), "no layer has gates"),
    (lambda: receptive_field([torch.eye(2)[None, None]], "sum"), "'min' or 'probabilistic'"),
    *[(lambda seeds=s: heads(seeds), HEADS) for s in ([1, 2], [1, 2, 3, 4], [1, 2, 1], [])],
    (lambda: Gumbel(0), "temperature must be positive"),
    (lambda: Gumbel(-1), "temperature must be positive"),
    (lambda: TopK(0), "k must be at least 1, not 0"),
    (lambda: TopKOfMany(0), "k must be at least 1, not 0"),
    (lambda: EntmaxBisect(alpha=1), "alpha must be from 1.01 to 2, not 1; for 1 take Softmax"),
    (lambda: EntmaxBisect(alpha=2.01), "alpha must be from 1.01 to 2"),
    (lambda: EntmaxBisect(alpha=float("nan")), "alpha must be from 1.01 to 2"),
    (lambda: EntmaxBisect(steps=0), "steps must be at least 1"),
    (lambda: make("softmax", tie="half"), "tie must be 'all', 'decoder' or 'none'"),
    (
        lambda: make("softmax", source_vocabulary_size=30),
        "needs one vocabulary for both sides, not 30 and 20",
    ),
    (lambda: make("softmax", heads=3), "width 8 is not a multiple of 3 heads"),
    (lambda: make("softmax", norm="mid"), "norm must be 'pre' or 'post'"),
    (lambda: make("softmax", positions="none"), "positions must be"),
    (lambda: Translation(1.0), "smoothing must be at least 0 and below 1, not 1"),
    (lambda: Beam(0), "beam must be at least 1, not 0"),
    (lambda: Beam(penalty_form="none"), "penalty_form must be 'fairseq' or 'gnmt', not 'none'"),
    (lambda: Beam(penalty=-1), "must not be negative"),
    (lambda: Beam(length_extra=0), "length_extra be at least 1"),
    (lambda: Roles(0), "roles.number: a layer needs at least one role, not 0"),
    (lambda: Roles(2, combination="rank_2"), "full, rank_1, added are known, not 'rank_2'"),
    (lambda: Roles(2, combination="added", residual=False), "always adds the token"),
    (lambda: Roles(2, window=6), "width 6 has no token in its middle: give a positive odd"),
    (lambda: Roles(2, window=-1), "give a positive odd"),
    (lambda: Roles(2, assignment="softmax"), "roles.assignment: 'softmax' is no part"),
    (
        lambda: RoleInteraction(5, Roles(2), causal=False, dropout=0.0),
        "width: two directions of an LSTM can't share 5",
    ),
    (lambda: make_roles("softmax", 4), "5 roles are more than the vocabulary's 4 words can fill"),
    (
        lambda: make_roles("softmax", source_vocabulary_size=3, tie="decoder"),
        "more than the vocabulary's 3 words",
    ),
    (lambda: make_roles("convolution", max_length=2), "width 3 is wider than the longest sentence"),
    (lambda: RoleTranslation(temperature=5, lowest=0), COOLING),
    (lambda: RoleTranslation(temperature=1, lowest=2), COOLING),
    (lambda: RoleTranslation(temperature=5, decay=1.1), COOLING),
    (lambda: xi(0.5, [0.1, 0.2], [3.0]), "2 agreements and 1 performances: give one of each"),
    (lambda: xi(0.5, [], []), "at least one"),
]


@pytest.mark.parametrize(("make", "sentence"), CASES, ids=[sentence for _, sentence in CASES])
def test_what_cannot_be_is_refused(make, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        make()
