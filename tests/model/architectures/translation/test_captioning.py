"""The captioner: its batches, its loss, decoding without a cache, and that it learns."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.plain_search import plain_search
from model.architectures.translation.beam_search import Beam
from model.architectures.translation.captioner import Captioner
from model.batches.batching import BOS
from model.batches.captions import CaptionSampler, captions_in_order, collate_captions, images_of
from model.batches.corpus import Split
from model.layers.image_encoders import Convolution, Regions
from model.layers.packing import Layout
from model.normalizers.entmax15 import Entmax15
from model.normalizers.softmax import Softmax
from model.normalizers.topk import TopK
from model.objectives.captioning import Captioning
from model.probes.quality.caption_scores import caption_scores
from tests.model.architectures.translation.test_decoding import assert_same, shaken
from tests.model.captioned import EOS, WORDS, coloured, write_captioned
from tests.model.corpora import CPU, learned, write_corpus
from tests.model.specs import SOFTMAX, brief, part, shape
from tests.model.translators import SIZES, unpadded

NORMALIZERS = {"softmax": Softmax, "top-k": lambda: TopK(2), "entmax": Entmax15}
ANY = pytest.mark.parametrize("normalizer", NORMALIZERS)


def make(normalizer: str, **changes) -> Captioner:
    images = Regions(8, features=6)
    options = {**SIZES, "images": images, "normalizer": NORMALIZERS[normalizer](), **changes}
    return Captioner(len(WORDS), **options).double().eval()


@pytest.fixture
def corpus(tmp_path):
    random = np.random.default_rng(0)
    sizes = {"train": 120, "dev": 20, "test": 40}
    return write_captioned(
        tmp_path / "c", {split: coloured(count, random) for split, count in sizes.items()}
    )


def test_the_small_convolution_has_as_many_parameters_as_counted_by_hand():
    images = Convolution(16, pixels=32, channels=[8, 24])
    stages = 9 * 3 * 8 + 9 * 8 * 8 + 4 * 8 + 9 * 8 * 24 + 9 * 24 * 24 + 4 * 24
    expected = stages + 24 * 16 + 16 + 8 * 8 * 16
    assert sum(p.numel() for p in images.parameters()) == expected
    assert images(torch.zeros(2, 3, 32, 32, dtype=torch.uint8)).shape == (2, 64, 16)


def test_a_batch_is_what_a_slow_loop_gathers(corpus):
    split = corpus.split("train")
    examples = np.array([5, 0, 17])
    batch = collate_captions(split, examples)
    rows, owners = [], []
    for place, example in enumerate(examples):
        caption = [BOS]
        for token in split.tokens[split.offsets[example] : split.offsets[example + 1]].tolist():
            caption.append(token)
            if token == EOS:
                rows.append(caption)
                owners.append(place)
                caption = [BOS]
    assert [row[row != 0].tolist() for row in batch.tokens] == rows
    assert batch.owners.tolist() == owners
    assert batch.padding == sum(max(map(len, rows)) - len(row) for row in rows)
    assert torch.equal(batch.layout.real, batch.tokens[:, 1:] != 0)
    assert np.array_equal(batch.images.numpy(), split.columns["features"][examples])
    assert batch.regions.tolist() == split.columns["regions"][examples].tolist()


def test_every_epoch_has_every_image_once_and_an_order_of_its_own(corpus):
    sampler = CaptionSampler(corpus.split("train"), {"examples": 32}, seed=0)
    first, second = (np.concatenate([m for u in sampler.epoch(n) for m in u]) for n in (0, 1))
    assert sorted(first) == sorted(second) == list(range(120)) and list(first) != list(second)
    (batch,) = sampler.batches([np.array([3, 4])], CPU)
    assert len(batch.images) == 2 and len(batch.tokens) == 4
    seen = [n for batch in captions_in_order(corpus.split("dev"), 60, CPU) for n in batch.examples]
    assert sorted(seen) == list(range(20))


def test_an_image_with_all_its_captions_says_what_one_caption_at_a_time_does(corpus):
    model = make("top-k")
    batch = collate_captions(corpus.split("train"), np.array([1, 2, 3]))
    together = batch.layout.split(model.captions(batch), heads=1)[0].squeeze(1)
    for number, owner in enumerate(batch.owners.tolist()):
        image, words = batch.images[[owner]], batch.tokens[[number], :-1]
        real = batch.layout.real[[number]]
        alone = model(image, model.regions(image, batch.regions[[owner]]), words, Layout(real))
        torch.testing.assert_close(together[number][real[0]], alone.states)


@ANY
def test_the_search_equals_one_that_reads_every_prefix_anew(normalizer, corpus):
    model = shaken(make(normalizer), 1)
    images, counts = images_of(corpus.split("test"), np.arange(5))
    counts = counts - torch.tensor([0, 1, 0, 2, 0])
    how = Beam(beam=3, penalty=1, length_ratio=0, length_extra=6)

    def log_p(prefixes, rows):
        regions = model.regions(images[rows], counts[rows])
        states = model(images[rows], regions, *unpadded(prefixes)).states
        return model.logits(states.view(*prefixes.shape, -1)[:, -1]).log_softmax(-1)

    found = how.search(model, images, model.regions(images, counts))
    with torch.no_grad():
        assert_same(found, plain_search(log_p, [6] * 5, how))


@ANY
def test_regions_that_only_fill_up_change_nothing(normalizer, corpus):
    model = make(normalizer)
    batch = collate_captions(corpus.split("train"), np.array([0, 1]))
    batch.regions[:] = 3
    before = model.captions(batch)
    batch.images[:, 3] = 7
    assert torch.equal(model.captions(batch), before)
    batch.regions[:] = 4
    assert not torch.equal(model.captions(batch), before)


def test_top_k_keeps_k_keys_in_all_three_places(corpus):
    model = make("top-k")
    image, words = torch.randn(1, 5, 6), torch.tensor([[BOS, 4, 5, 6, 7]])
    weights = model(image, model.regions(image), *unpadded(words), need_weights=True).weights
    assert {int((one > 0).sum(-1).max()) for layers in weights for one in layers} == {2}


def test_the_loss_is_the_mean_cross_entropy_of_the_words(corpus):
    model = make("softmax")
    batch = collate_captions(corpus.split("train"), np.array([0, 5]))
    loss = Captioning(smoothing=0).loss(model, batch, 0.0)
    total, count = 0.0, 0
    for number, owner in enumerate(batch.owners.tolist()):
        words = batch.tokens[number][batch.tokens[number] != 0]
        image = batch.images[[owner]]
        for place in range(1, len(words)):
            prefix = words[None, :place]
            states = model(image, model.regions(image), prefix, Layout(prefix > 0)).states
            total -= float(model.logits(states).detach()[-1].log_softmax(-1)[words[place]])
            count += 1
    assert loss.units == count
    assert float(loss.mean.detach()) == pytest.approx(total / count, abs=1e-9)


@pytest.mark.parametrize("kind", ["features", "pixels"])
@pytest.mark.parametrize("normalizer", [SOFTMAX, part("normalizers.topk:TopK", k=2)])
def test_a_tiny_captioner_learns_to_tell_what_is_there(kind, normalizer, tmp_path):
    random = np.random.default_rng(0)
    pixels = 8 if kind == "pixels" else 0
    splits = {s: coloured(n, random, pixels) for s, n in (("train", 600), ("dev", 8), ("test", 40))}
    corpus = write_captioned(tmp_path / kind, splits)
    images = part("layers.image_encoders:Regions", width=16, features=6)
    if pixels:
        sizes = {"width": 16, "pixels": 8, "channels": [8], "shift": 1}
        images = part("layers.image_encoders:Convolution", **sizes)
    more = {"images": images, "normalizer": normalizer, "norm": "pre"}
    model = part("architectures.translation.captioner:Captioner", **shape(16, 32), **more)
    objective = "model.objectives.captioning:Captioning"
    subject, _ = learned(brief(model, objective, epochs=8 if pixels else 20), corpus)
    search = Beam(beam=2, length_ratio=0, length_extra=8)
    scores = [caption_scores(subject, search, shuffled=one).scalars for one in (False, True)]
    assert scores[0]["exact"]["value"] > 90 > 70 > scores[1]["exact"]["value"]
    assert scores[0]["cider"]["value"] > 1.5 * scores[1]["cider"]["value"]


@settings(max_examples=20)
@given(st.integers(0, 3), st.booleans(), st.integers(0, 10**6))
def test_training_shows_each_image_moved_or_mirrored(shift, flip, seed):
    torch.manual_seed(seed)
    encoder = Convolution(4, pixels=8, channels=[8], shift=shift, flip=flip)
    images = torch.randint(256, (3, 3, 8, 8), dtype=torch.uint8)
    assert encoder.eval()._moved(images) is images
    padded = torch.nn.functional.pad(images.float(), [shift] * 4, mode="replicate").byte()
    moves = [
        padded[..., y : y + 8, x : x + 8]
        for y in range(2 * shift + 1)
        for x in range(2 * shift + 1)
    ]
    moves += [move.flip(-1) for move in moves] if flip else []
    for before, after in enumerate(encoder.train()._moved(images)):
        assert any(torch.equal(after, move[before]) for move in moves)


def test_what_does_not_fit_is_told(corpus, tmp_path):
    split = corpus.split("train")
    batch = collate_captions(split, np.arange(2))
    with pytest.raises(ValueError, match=r"features of width 6, and model\.images\.features is 5"):
        make("softmax", images=Regions(8, features=5)).captions(batch)
    pixels = torch.zeros(1, 3, 8, 8, dtype=torch.uint8)
    with pytest.raises(ValueError, match="reads features of regions, and the corpus has pixels"):
        Regions(8, features=6)(pixels)
    with pytest.raises(ValueError, match=r"has images of shape \(4, 6\), and the model reads"):
        Convolution(8, 8, [8])(batch.images)
    with pytest.raises(ValueError, match=r"images of 9 pixels cannot be halved"):
        Convolution(8, 9, [8])
    with pytest.raises(ValueError, match="a caption of 5 tokens is longer than the model's"):
        make("softmax", max_length=3).captions(batch)
    plain = write_corpus(tmp_path / "plain", {"train": [[3, 4, 2]]}, 9, {})
    with pytest.raises(ValueError, match="neither a column 'pixels' nor 'features'"):
        images_of(plain.split("train"), np.arange(1))
    np.save(corpus.folder / "train.tokens.npy", np.where(split.tokens == EOS, 4, split.tokens))
    with pytest.raises(ValueError, match="do not end with EOS"):
        collate_captions(Split(corpus.folder, "train"), np.arange(2))
