"""What is refused before training: no attention, a sentence or a checkpoint beyond the last."""

import sys
import types

import pytest
import torch
from torch import nn

from model.training.preflight import check_last_checkpoint, check_longest_pair, check_mechanisms
from tests.model.corpora import write_corpus
from tests.model.parallel import write_parallel
from tests.model.specs import SOFTMAX, part

NORMALIZERS = [
    SOFTMAX,
    part("normalizers.topk:TopK", k=3),
    part("normalizers.sparsemax:Sparsemax"),
    part("normalizers.entmax15:Entmax15"),
    part("normalizers.entmax_alpha:EntmaxAlpha", heads=4),
    part("normalizers.gumbel:Gumbel", straight_through=True),
    part("normalizers.softpick:Softpick"),
    part("normalizers.length_scaled:ASEntmax", heads=4),
    part("normalizers.length_scaled:SSMax", heads=4),
    part("normalizers.selective:Selective"),
    part("normalizers.rela:ReLA", width=16),
    part("normalizers.differential:Differential", head_width=4),
]
CONTEXT = "architectures.context_transformer:ContextTransformer"


TRAINING = "given scores (2, 4, 5, 7) in training, "
OF_ONE = "given scores (3, 4, 1, 1) in training, "


def model(node: dict) -> dict:
    """A classifier's node with a normaliser."""
    encoder = part("architectures.transformer:Transformer", heads=4, normalizer=node)
    return part("architectures.classifier:Classifier", encoder=encoder)


class Constant(nn.Module):
    """Weights that no score changes."""

    def forward(self, scores):
        seen = scores.isfinite().float()
        return seen / seen.sum(-1, keepdim=True)


class Careless(nn.Module):
    """A learned factor on -inf: the weights are right, and the factor's gradient is no number."""

    def __init__(self):
        super().__init__()
        self.factor = nn.Parameter(torch.ones(()))

    def forward(self, scores):
        return (scores * self.factor).softmax(-1)


class Placed(Careless):
    """Fails with the device of the scores and of its factor."""

    def forward(self, scores):
        raise TypeError(f"{scores.device} {self.factor.device}")


class Hasty(nn.Module):
    """Softmax in training, and weights that do not sum to 1 afterwards."""

    def forward(self, scores):
        return scores.softmax(-1) * (1 if self.training else 3)


def endless(scores):
    """Softmax whose gradient is not finite."""
    return scores.softmax(-1) + 0 * (scores.detach() - scores).clamp(max=0).sqrt().nan_to_num()


def for_few(scores):
    """Softmax for one number of queries and of keys."""
    return (scores + torch.zeros(5, 7)).softmax(-1)[:, :, : scores.shape[2]]


def failing(error):
    """A mechanism that raises, told of the shape that it is given."""

    def mine(scores):
        raise type(error)(*error.args or (tuple(scores.shape),))

    return mine


FAULTS = [
    (lambda scores: None, TRAINING + "it returns NoneType, no tensor"),
    (lambda scores: scores.amax(-1), TRAINING + "its weights have the shape (2, 4, 5)"),
    (lambda s: (0 * s).softmax(-1), TRAINING + "some weights are not finite; take the -inf"),
    (lambda s: 2 * s.softmax(-1) - 1 / s.shape[-1], TRAINING + "some weights are negative"),
    (lambda s: torch.ones_like(s) / s.shape[-1], TRAINING + "masked keys get a weight"),
    (lambda s: 2 * s.softmax(-1), TRAINING + "rows sum to 2 to 2, not to 1"),
    (endless, TRAINING + "the gradient of its weights is not finite"),
    (Careless, TRAINING + "the gradient of its weights is not finite; mind the"),
    (lambda scores: 1 / 0, TRAINING + "it fails with ZeroDivisionError: division by zero"),
    (lambda s: s.exp_() / s.sum(), TRAINING + "it changes the scores that it is given; compute"),
    (
        lambda s: (s + torch.zeros(7)).softmax(-1),
        OF_ONE + "its weights have the shape (3, 4, 1, 7)",
    ),
    (for_few, OF_ONE),
    (Hasty, "given scores (2, 4, 5, 7) after training, rows sum to 3 to 3, not to 1"),
]


@pytest.fixture
def own(monkeypatch):
    """The model's node with a mechanism of the user's module."""
    module = types.ModuleType("own_attention")
    monkeypatch.setitem(sys.modules, "own_attention", module)

    def of(mechanism):
        module.mine = mechanism
        return model({"path": "own_attention:mine"})

    return of


def said_of(node, **options):
    """The sentence about a mechanism, up to what all such sentences end with."""
    with pytest.raises(ValueError) as caught:
        check_mechanisms(node, **options)
    sentence, _, rest = str(caught.value).partition(". It maps scores (B, H, T, S), ")
    assert rest == "masked keys at -inf, to weights (docs/own_mechanism.md)."
    return sentence.partition(" is no attention mechanism: ")[::2]


@pytest.mark.parametrize("node", NORMALIZERS, ids=lambda node: node["path"])
def test_the_projects_own_pass_and_the_random_state_stays(node):
    state = torch.get_rng_state()
    check_mechanisms(around(node))
    assert torch.equal(torch.get_rng_state(), state)


def stating(rows, **stated):
    """A mechanism that states something; `rows` makes its weights of softmax's and the scores."""
    return type("Stating", (nn.Module,), {
        "forward": lambda self, scores: rows(scores.softmax(-1), scores), **stated,
    })  # fmt: skip


def half(weights, scores):
    return weights / 2


def double(weights, scores):
    return 2 * weights


def below(weights, scores):
    """Rows that sum to 1 and have weights below 0."""
    seen = scores.isfinite().float()
    return 3 * weights - 2 * seen / seen.sum(-1, keepdim=True)


def negative(weights, scores):
    """Rows that sum to -1."""
    return -weights


MEANT = "; where that is meant, state "
CONTRACT = [
    (half, {}, f'rows sum to 0.5 to 0.5, not to 1{MEANT}sum = "at most one" in its class'),
    (double, {}, f'rows sum to 2 to 2, not to 1{MEANT}sum = "free" in its class'),
    (below, {}, f'some weights are negative{MEANT}sign = "any" in its class'),
    (half, {"sum": "one"}, "rows sum to 0.5 to 0.5, not to 1"),
    (double, {"sum": "at most one"}, "rows sum to 2 to 2, not to at most 1"),
    (below, {"sign": "positive"}, "some weights are negative"),
    (below, {"sum": "free"}, f'some weights are negative{MEANT}sign = "any" in its class'),
    (
        negative,
        {"sign": "any"},
        f'rows sum to -1 to -1, not to 1{MEANT}sum = "at most one" in its class',
    ),
    (half, {"sum": "at most one"}, ""),
    (double, {"sum": "free"}, ""),
    (below, {"sign": "any"}, ""),
    (negative, {"sign": "any", "sum": "free"}, ""),
]  # fmt: skip


@pytest.mark.parametrize(("rows", "stated", "fault"), CONTRACT)
def test_what_rows_are_is_what_a_mechanism_states(own, rows, stated, fault):
    node = own(stating(rows, **stated))
    if fault:
        assert said_of(node)[1] == TRAINING + fault
    else:
        check_mechanisms(node)


def test_what_can_be_stated_is_told(own):
    said = said_of(own(stating(double, sum="two")))[1]
    assert said == "its sum is 'two'; state one of 'one', 'at most one', 'free'"
    said = said_of(own(stating(below, sign="negative")))[1]
    assert said == "its sign is 'negative'; state one of 'positive', 'any'"


def around(node):
    """A model whose encoder takes a step after reading."""
    found = model(node)
    found["encoder"] |= part(CONTEXT, width=16)
    return found


def test_a_step_after_reading_needs_an_encoder_that_takes_it(own):
    node = own(stating(lambda weights, scores: weights, after=lambda self, context: context))
    said = said_of(node)[1]
    assert said == (
        "it has a step after reading, which model.architectures.transformer:Transformer leaves "
        f"out; use model.{CONTEXT}"
    )
    check_mechanisms(around(node["encoder"]["normalizer"]))


@pytest.mark.parametrize(("after", "fault"), [
    (lambda self, context: context[..., :1], "its `after` returns (2, 4, 5, 1); return as much"),
    (lambda self, context: context / context.square().sum(-1, keepdim=True),
     "its `after` is not finite, or its gradient is not; mind a query that reads nothing"),
    (lambda self, context: context.square().sum(-1, keepdim=True).sqrt() * context.sign(),
     "its `after` is not finite, or its gradient is not; mind a query that reads nothing"),
])  # fmt: skip
def test_a_step_after_reading_is_tried_on_what_is_read(own, after, fault):
    node = own(stating(lambda weights, scores: weights, after=after))["encoder"]["normalizer"]
    assert said_of(around(node))[1] == f"given what is read (2, 4, 5, 4), {fault}"


@pytest.mark.parametrize(("mechanism", "fault"), FAULTS, ids=[fault for _, fault in FAULTS])
def test_what_is_no_attention_is_refused(own, mechanism, fault):
    name, said = said_of(own(mechanism))
    assert name == "own_attention:mine" and said.startswith(fault)


def test_an_error_is_told_by_its_first_line_with_one_full_stop(own):
    assert said_of(own(failing(TypeError("It can't.\nNo."))))[1].endswith("TypeError: It can't")


def test_a_model_without_heads_has_one(own):
    node = own(failing(TypeError()))["encoder"] | part("architectures.lstm_classifier:X")
    del node["heads"]
    assert said_of(node)[1].endswith("it fails with TypeError: (2, 1, 5, 7)")


def test_mechanisms_are_tried_on_the_device_of_the_run(own):
    said = said_of(own(Placed), device=torch.device("meta"))[1]
    assert said.endswith("TypeError: meta meta")


def test_what_is_the_gpus_fault_is_not_the_mechanisms(own):
    with pytest.raises(RuntimeError, match=r"^CUDA error"):
        check_mechanisms(own(failing(RuntimeError("CUDA error: unspecified launch failure"))))


def test_weights_without_a_gradient_pass(own):
    check_mechanisms(own(Constant))


def test_another_number_of_heads_is_refused():
    name, said = said_of(model(part("normalizers.entmax_alpha:EntmaxAlpha", heads=8)))
    assert name.endswith("EntmaxAlpha") and "fails" in said


TRANSLATOR = part("architectures.translation.encoder_decoder:EncoderDecoder")


@pytest.mark.parametrize("split", ["train", "dev", "test"])
@pytest.mark.parametrize("side", ["source", "target"])
def test_the_longest_sentence_is_found_and_named(tmp_path, split, side):
    splits = {name: [("a b", "c"), ("a", "b c d")] for name in ("train", "dev", "test")}
    long = "a b c d a b"
    splits[split].append((long, "b") if side == "source" else ("a", long))
    corpus = write_parallel(tmp_path / "data", splits)
    check_longest_pair(TRANSLATOR | {"max_length": 7}, corpus)
    sentence = rf"data: the {side} of pair 3 of '{split}' \(its line in {split}.{side}.txt\) has 7"
    with pytest.raises(ValueError, match=sentence):
        check_longest_pair(TRANSLATOR | {"max_length": 6}, corpus)


def three_pairs(folder, source):
    """A corpus with one pair in each split."""
    return write_parallel(folder, {split: [(source, "a")] for split in ("train", "dev", "test")})


def test_a_length_that_the_spec_leaves_out_is_that_of_the_class(tmp_path):
    with pytest.raises(ValueError, match=r"has 1025 sub-words, <eos> .* is 1024: set it"):
        check_longest_pair(TRANSLATOR, three_pairs(tmp_path / "data", "a " * 1024))


def test_models_of_any_length_and_corpora_of_other_kinds_are_let_pass(tmp_path, copies):
    corpus = three_pairs(tmp_path / "data", "a a a")
    check_longest_pair(part("architectures.lstm_classifier:LSTMClassifier", max_length=1), corpus)
    check_longest_pair(TRANSLATOR | {"max_length": 1}, copies)


CLASSES = part("objectives.classification:Classification")
STREAMS = part("objectives.stream_modelling:StreamModelling", segment=5)


@pytest.mark.parametrize(
    ("objective", "batch", "per_epoch"),
    [
        (CLASSES, {"examples": 2}, 4),
        (CLASSES, {"examples": 7}, 1),
        (CLASSES, {"tokens": 12}, 3),  # of four words each, with what stands before a text
        (STREAMS, {"tokens": 10}, 2),
    ],
)
def test_checkpoints_end_with_the_updates_that_training_makes_of_its_epochs(
    tmp_path, objective, batch, per_epoch
):
    """Of seven texts of three words, 21 words in all."""
    corpus = write_corpus(tmp_path / "data", {"train": [[4, 5, 6]] * 7, "dev": [[4]]}, 9, {})
    training = {"epochs": 3, "batch": batch}
    spec = {"objective": objective, "training": training, "seed": 0}
    last = 3 * per_epoch
    check_last_checkpoint(spec | {"checkpoints": [1, last]}, corpus)
    check_last_checkpoint(spec | {"checkpoints": []}, corpus)
    sentence = (
        rf"checkpoints: {last + 1} is beyond the last update, {last} \(training.epochs 3, of "
        rf"{per_epoch} updates each in .*data\); take it away, or raise training.epochs"
    )
    with pytest.raises(ValueError, match=sentence):
        check_last_checkpoint(spec | {"checkpoints": [1, last + 1, 999]}, corpus)
