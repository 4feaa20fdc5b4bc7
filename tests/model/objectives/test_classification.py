"""Classification of parts of texts: which words stay, by counting; and that it can be learned."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from model.batches.batching import Batch
from model.objectives.classification import Classification, ClassificationOfParts
from tests.model.corpora import learned

WORDS = 200


class Recording(torch.nn.Module):
    """Remembers what it is given, and finds both classes as likely."""

    def forward(self, tokens, real, need_weights=True):
        self.tokens, self.real = tokens, real
        return SimpleNamespace(logits=torch.zeros(len(tokens), 2))


def texts(count: int) -> Batch:
    """Texts of 200 words 3, 4, ... behind <cls>; every second one has half of them."""
    tokens = torch.cat([torch.ones(1), torch.arange(3, 3 + WORDS)]).long().repeat(count, 1)
    tokens[1::2, 1 + WORDS // 2 :] = 0
    labels = {"label": torch.zeros(count, dtype=torch.int64)}
    return Batch(tokens, tokens > 0, labels, np.arange(count), 0)


def test_half_of_the_texts_stay_whole_and_others_lose_any_share():
    model, batch = Recording().train(), texts(2000)
    torch.manual_seed(0)
    found = ClassificationOfParts().loss(model, batch, 0.0)
    assert float(found.mean) == pytest.approx(np.log(2)) and found.units == 2000
    kept = (model.real.sum(dim=1) - 1) / (batch.real.sum(dim=1) - 1)
    parts = kept[kept < 1].numpy()
    assert len(parts) == pytest.approx(1000, abs=70)
    # A share that is even on [0, 1) has a tenth of the texts in each tenth.
    counts, _ = np.histogram(parts, bins=10, range=(0, 1))
    assert counts / len(parts) == pytest.approx([0.1] * 10, abs=0.04)


def test_what_stays_keeps_its_order_and_cls_is_never_left_out():
    model, batch = Recording().train(), texts(50)
    ClassificationOfParts().loss(model, batch, 0.0)
    assert (model.tokens[:, 0] == 1).all() and model.real[:, 0].all()
    assert ((model.tokens > 0) == model.real).all()
    for row, whole in zip(model.tokens, batch.tokens, strict=True):
        words = row[row > 2].tolist()
        assert words == sorted(set(words)) and set(words) <= set(whole.tolist())


def test_texts_are_whole_where_nothing_is_trained():
    model, batch = Recording().eval(), texts(4)
    told = ClassificationOfParts().loss(model, batch, 0.0)
    assert model.tokens is batch.tokens and model.real is batch.real
    assert told.sums == Classification().loss(model, batch, 0.0).sums


def test_a_model_learns_from_parts(keywords, classifier_spec):
    classifier_spec["objective"]["path"] += "OfParts"
    classifier_spec["training"]["epochs"] = 10
    trained, rows = learned(classifier_spec, keywords)
    accuracy = [row["accuracy"] for row in rows if row["split"] == "dev"]
    assert max(accuracy) > 90 and trained.model.training is False
