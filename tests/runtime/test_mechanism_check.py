"""What is no attention mechanism is refused before training, with the reason."""

import gc
import json
import locale
import logging
import os
import random
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
import types
import warnings

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.overrides import BaseTorchFunctionMode as BaseMode

from model import build
from tests.model.corpora import write_corpus
from tests.model.parallel import write_parallel
from tests.model.specs import SOFTMAX, part
from workflow.runtime.mechanism_check import check_mechanisms
from workflow.runtime.process_state import ProcessState

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
    part("normalizers.argmax:Argmax"),
    part("normalizers.sink:Sink"),
    part("normalizers.sink:Sink", heads=4),
    part("normalizers.sigmoid:Sigmoid"),
    part("normalizers.stick_breaking:StickBreaking"),
    part("normalizers.gated:Gated", width=16, heads=4),
    part("normalizers.forgetting:Forgetting", width=16, heads=4),
    part("normalizers.threshold_differential:ThresholdDifferential", head_width=4),
    part("normalizers.threshold_relative:ThresholdRelative", width=16, heads=4),
    part("normalizers.lightning_indexer:LightningIndexer", width=16, k=3),
    part("normalizers.edge_gates:EdgeGates"),
]
CONTEXT = "architectures.context_transformer:ContextTransformer"
STATES = "architectures.state_transformer:StateTransformer"


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


def steep(scores):
    """Softmax whose finite gradient has no finite square."""
    return scores.softmax(-1) + (1e30 * (scores - scores.detach())).nan_to_num()


def for_few(scores):
    """Softmax for one number of queries and of keys."""
    return (scores + torch.zeros(5, 7)).softmax(-1)[:, :, : scores.shape[2]]


def failing(error):
    """A mechanism that raises, told of the shape that it is given."""

    def mine(scores):
        raise type(error)(*error.args or (tuple(scores.shape),))

    return mine


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
    found["encoder"] |= part(STATES, width=16)
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
    (lambda self, context: 1e30 * (context - context.detach()),
     "the gradient of its `after` reaches 3e+30; its square, which the optimizer keeps, is "
     "infinite; bound the gradient"),
])  # fmt: skip
def test_a_step_after_reading_is_tried_on_what_is_read(own, after, fault):
    node = own(stating(lambda weights, scores: weights, after=after))["encoder"]["normalizer"]
    assert said_of(around(node))[1] == f"given what is read (2, 4, 5, 4), {fault}"


def by_states(**steps):
    """Softmax with steps that take states."""
    return stating(lambda weights, scores: weights, **steps)


SEEN = "its `before` lets a query see masked keys; leave their scores at -inf"


@pytest.mark.parametrize(("steps", "fault"), [
    ({"after": lambda self, context, states: context * states.mean(1)[:, None, None, :1]},
     "what a query gets changes with later ones: it sees the future"),
    ({"after": lambda self, context, states: context * states.mean()},
     "what a text gets changes with another text of its batch"),
    ({"before": lambda self, s, queries, keys: s + keys.mean((1, 2))[:, None, None, None]},
     "what a query gets changes with later ones: it sees the future"),
    ({"before": lambda self, s, queries, keys: s + keys.mean()},
     "what a text gets changes with another text of its batch"),
    ({"before": lambda self, s, queries, keys: s.clamp(min=-9)}, SEEN),
    ({"before": lambda self, s, queries, keys: s[:, :1]},
     "its `before` returns (2, 1, 5, 5); return as much"),
    ({"before": lambda self, s, queries, keys: s + (keys - keys.detach()).clamp(0).sqrt().sum()},
     "its `before` is not finite, or its gradient is not; mind the -inf of masked keys"),
    ({"after": lambda self, context, states: context}, ""),
    ({"before": lambda self, s, queries, keys: s + queries[..., None].mean(2)[:, None]}, ""),
])  # fmt: skip
def test_steps_that_take_states_are_tried(own, unlabelled, steps, fault):
    node = around(own(by_states(**steps))["encoder"]["normalizer"])
    if fault:
        assert said_of(node, corpus=unlabelled)[1].endswith(f", {fault}")
    else:
        check_mechanisms(node, corpus=unlabelled)


def test_steps_that_take_states_need_an_encoder_that_gives_them(own):
    node = own(by_states(after=lambda self, context, states: context))
    node["encoder"] |= part(CONTEXT, width=16)
    assert said_of(node)[1] == (
        f"it has a step that takes states, which model.{CONTEXT} does not give; use model.{STATES}"
    )


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


def by_chance(scores):
    """Weights that are drawn, whatever the scores are."""
    drawn = torch.rand_like(scores).masked_fill(scores == -torch.inf, -torch.inf)
    return drawn.softmax(-1).detach()


class Learned(nn.Module):
    """Softmax of a learned factor times scores, to which no gradient passes."""

    def __init__(self):
        super().__init__()
        self.factor = nn.Parameter(torch.ones(()))

    def forward(self, scores):
        hidden = scores == -torch.inf
        known = scores.detach().masked_fill(hidden, 0) * self.factor
        return known.masked_fill(hidden, -torch.inf).softmax(-1)


class DrawnInTraining(Constant):
    """Weights without a gradient that no score changes, drawn in training."""

    def forward(self, scores):
        return by_chance(scores) if self.training else super().forward(scores)


def hard(scores):
    """The key of the largest score."""
    return nn.functional.one_hot(scores.argmax(-1), scores.shape[-1]).to(scores.dtype)


def passing(scores):
    """The key of the largest score, with the gradient of softmax."""
    soft = scores.softmax(-1)
    return hard(scores) + soft - soft.detach()


def test_inference_mode_is_refused(own):
    @torch.inference_mode()
    def inferring(scores):
        return scores.softmax(-1)

    told = "it computes in torch.inference_mode, which training can't go through; leave that out"
    assert said_of(own(lambda scores: inferring(scores)))[1] == TRAINING + told
    after = torch.inference_mode()(lambda self, context: 2 * context)
    node = own(stating(lambda weights, scores: weights, after=after))["encoder"]["normalizer"]
    said = said_of(around(node))[1]
    assert said == f"given what is read (2, 4, 5, 4), its `after`: {told}"


def test_another_number_of_heads_is_refused():
    name, said = said_of(model(part("normalizers.entmax_alpha:EntmaxAlpha", heads=8)))
    assert name.endswith("EntmaxAlpha") and "fails" in said


@pytest.fixture
def unlabelled(tmp_path):
    """A corpus of texts without a label: no query may know of later ones."""
    texts = {split: [[3, 4] * 30, [3]] for split in ("train", "dev", "test")}
    return write_corpus(tmp_path / "unlabelled", texts, 9, {})


@pytest.mark.parametrize("node", NORMALIZERS, ids=lambda node: node["path"])
def test_the_projects_own_see_no_later_query(node, unlabelled):
    check_mechanisms(around(node), corpus=unlabelled)


def foreseeing(scores):
    """Softmax of the scores plus their mean over queries; masked keys count for nothing."""
    seen = scores.isfinite()
    mean = scores.masked_fill(~seen, 0).sum(2, keepdim=True) / seen.sum(2, keepdim=True).clamp(1)
    return (scores + mean).softmax(-1)


def test_one_that_sees_the_future_is_refused_where_nobody_may(own, unlabelled, tmp_path):
    node = own(foreseeing)
    said = said_of(node, corpus=unlabelled)[1]
    assert said.endswith("what a query gets changes with later ones: it sees the future")
    labels = {split: {"label": [0, 1]} for split in ("train", "dev", "test")}
    texts = {split: [[3, 4], [3]] for split in labels}
    labelled = write_corpus(tmp_path / "labelled", texts, 9, {}, labels)
    said = said_of(node, corpus=labelled)[1]
    assert said.endswith("what a text gets changes with the padding behind it")


def scaled_by_the_text(scores):
    """Softmax of scores that are divided where the largest of their text is above 6."""
    hidden = scores == -torch.inf
    known = scores.masked_fill(hidden, 0)
    largest = known.amax((2, 3), keepdim=True).clamp(min=6) / 6
    return (known / largest).masked_fill(hidden, -torch.inf).softmax(-1)


def doubled_by_a_query(scores):
    """Softmax of scores that are doubled where the scores of one query are above 3 in the mean."""
    hidden = scores == -torch.inf
    known = scores.masked_fill(hidden, 0)
    high = (known.mean(-1, keepdim=True) > 3).to(scores.dtype).amax(2, keepdim=True)
    return (known * (1 + high)).masked_fill(hidden, -torch.inf).softmax(-1)


@pytest.mark.parametrize("mechanism", [scaled_by_the_text, doubled_by_a_query])
def test_one_that_looks_at_large_scores_alone_sees_the_future_or_padding(
    own, unlabelled, mechanism
):
    said = said_of(own(mechanism), corpus=unlabelled)[1]
    assert said.endswith("what a query gets changes with later ones: it sees the future")
    said = said_of(own(mechanism))[1]
    assert said.endswith("what a text gets changes with the padding behind it")


def test_one_that_looks_at_the_large_scores_of_a_query_passes(own, unlabelled):
    def capped(scores):
        largest = scores.detach().amax(-1, keepdim=True).clamp(min=6) / 6
        return (scores / largest).softmax(-1)

    check_mechanisms(own(capped), corpus=unlabelled)


def test_where_targets_are_predicted_the_encoder_alone_may_look_ahead(own, tmp_path):
    splits = {name: [("a b c", "a b")] for name in ("train", "dev", "test")}
    corpus = write_parallel(tmp_path / "pairs", splits)
    node = own(balanced)["encoder"]["normalizer"]
    translator = part("architectures.translation.encoder_decoder:EncoderDecoder", heads=4)
    softmax = {"normalizer": SOFTMAX}
    check_mechanisms(translator | softmax | {"encoder_normalizer": node}, corpus=corpus)
    for place in ("normalizer", "decoder_normalizer", "cross_normalizer"):
        said = said_of(translator | softmax | {place: node}, corpus=corpus)[1]
        assert said.endswith("it sees the future")


def balanced(scores):
    """Softmax of scores less the mean of a key over the text's own queries, padding left out."""
    real = scores.isfinite()[:, :, :1].transpose(-1, -2)
    if scores.shape[2] != scores.shape[3]:
        real = torch.ones_like(scores[..., :1], dtype=torch.bool)
    known = scores.masked_fill(~(scores.isfinite() & real), 0)
    return (scores - known.sum(2, keepdim=True) / 100).softmax(-1)


class Counting(nn.Module):
    """Softmax that is sharper at each call, by a count that is saved or not."""

    def __init__(self, saved=False):
        super().__init__()
        if saved:
            self.register_buffer("calls", torch.zeros(()))
        else:
            self.calls = torch.zeros(())

    def forward(self, scores):
        if self.training:
            self.calls += 1
        return (scores / (1 + self.calls)).softmax(-1)


class Persistent(Counting):
    def __init__(self):
        super().__init__(saved=True)


class Mixing(nn.Module):
    """Softmax of scores divided by the largest of the batch."""

    def forward(self, scores):
        largest = scores.detach().masked_fill(scores == -torch.inf, 0).abs().max()
        return (scores / largest.clamp(min=1)).softmax(-1)


def noisy(scores):
    return (scores + torch.randn_like(scores)).softmax(-1)


def seeding(scores):
    torch.manual_seed(0)
    return scores.softmax(-1)


def double_precision(scores):
    return scores.double().softmax(-1)


def by_texts(scores):
    """Softmax that is sharper the more texts there are."""
    return (scores * scores.shape[0]).softmax(-1)


def by_place(scores):
    """Softmax that is sharper the later a text is in its batch."""
    return (scores * torch.arange(1, len(scores) + 1).view(-1, 1, 1, 1)).softmax(-1)


def leaving(scores):
    sys.exit(0)


def windowed(scores):
    """Softmax over the five keys around a query, which are all padding far behind a text."""
    queries, keys = (torch.arange(length) for length in scores.shape[2:])
    far = (queries[:, None] - keys).abs() > 5
    return scores.masked_fill(far, -torch.inf).softmax(-1)


class Averaging(nn.Module):
    """Softmax of scores less a mean of earlier ones, a buffer that begins as no number."""

    def __init__(self, always, used=True):
        super().__init__()
        self.always, self.used = always, used
        self.register_buffer("mean", torch.tensor(torch.nan))

    def forward(self, scores):
        weights = (scores / (1 + self.used * self.mean.nan_to_num())).softmax(-1)
        if self.training or self.always:
            size = scores.detach().nan_to_num(neginf=0).abs().mean()
            self.mean = 0.9 * self.mean.nan_to_num() + 0.1 * size
        return weights


class Extra(nn.Module):
    """Softmax that is sharper at each call, by a count that is saved as an extra state."""

    calls = 0

    def get_extra_state(self):
        return self.calls

    def set_extra_state(self, state):
        self.calls = state

    def forward(self, scores):
        self.calls += 1
        return (scores / self.calls).softmax(-1)


class Wrapped(nn.Module):
    """A mechanism that makes its part, `of`, itself."""

    def __init__(self):
        super().__init__()
        self.part = self.of()

    def forward(self, scores):
        return self.part(scores)


class Cached(nn.Module):
    """Softmax less a distance, which is kept per length and not saved."""

    def __init__(self):
        super().__init__()
        self.register_buffer("distance", None, persistent=False)

    def forward(self, scores):
        if self.distance is None or self.distance.shape != scores.shape[2:]:
            queries, keys = (torch.arange(length) for length in scores.shape[2:])
            self.distance = (queries[:, None] - keys).abs()
        return (scores - self.distance).softmax(-1)


def wrapped(mechanism):
    """A class whose part is made by a call."""
    return type("Mine", (Wrapped,), {"of": staticmethod(mechanism)})


def hook(*arguments):
    """A hook of all modules, which does nothing."""


OTHERS = "functions that are not its own"
FILES = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
SWITCHES = [
    (lambda: torch.set_default_dtype(torch.float64), "torch's default type"),
    (lambda: torch.set_default_device("meta"), "torch's default device"),
    (lambda: torch.set_grad_enabled(False), "torch's gradient mode"),
    (lambda: torch.set_num_threads(7), "torch's number of threads"),
    (lambda: torch.set_float32_matmul_precision("medium"), "torch's precision of products"),
    (lambda: setattr(torch.backends.cuda.matmul, "fp32_precision", "tf32"),
     "torch's precision of products"),
    (lambda: torch.use_deterministic_algorithms(True, warn_only=True),
     "torch's deterministic mode"),
    (lambda: torch.set_autocast_enabled("cpu", True), "torch's autocast"),
    (lambda: torch.set_flush_denormal(True), "torch's flushing of small numbers to 0"),
    (lambda: torch.autograd.set_detect_anomaly(True), "torch's detection of anomalies"),
    (lambda: register_module_forward_pre_hook(hook),
     "torch's hooks of all modules (_global_forward_pre_hooks)"),
    (lambda: register_module_forward_hook(hook),
     "torch's hooks of all modules (_global_forward_hooks)"),
    (lambda: torch.backends.cuda.enable_math_sdp(False),
     "torch's choice of attention (backends.cuda)"),
    (lambda: setattr(torch.backends.cudnn, "benchmark", True), "torch's backends.cudnn"),
    (lambda: setattr(torch.backends.mkldnn, "enabled", False), "torch's backends.mkldnn"),
    (lambda: os.chdir("/"), "the working folder"),
    (lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN), "what signals do"),
    (lambda: signal.signal(signal.SIGUSR2, signal.SIG_IGN), "what signals do"),
    (lambda: signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM]), "what signals do"),
    (lambda: signal.setitimer(signal.ITIMER_PROF, 1000), "timers (signal.alarm)"),
    (lambda: os.umask(0o777), "the rights of new files (umask)"),
    (lambda: os.environ.update(OWN="1"), "variables of the environment (OWN)"),
    (lambda: os.environ.pop("PATH", None), "variables of the environment (PATH)"),
    (lambda: setattr(torch, "softmax", hook), f"{OTHERS} (torch.softmax)"),
    (lambda: setattr(torch.Tensor, "tanh", hook), f"{OTHERS} (torch.Tensor.tanh)"),
    (lambda: setattr(nn.functional, "dropout", hook), f"{OTHERS} (torch.nn.functional.dropout)"),
    (lambda: setattr(nn.Linear, "forward", hook),
     f"{OTHERS} (torch.nn.modules.linear.Linear.forward)"),
    (lambda: setattr(np, "mean", hook), f"{OTHERS} (numpy.mean)"),
    (lambda: setattr(torch.optim.Adam, "step", hook), f"{OTHERS} (torch.optim.adam.Adam.step)"),
    (lambda: setattr(torch.autograd, "grad", hook), f"{OTHERS} (torch.autograd.grad)"),
    (lambda: setattr(build, "build", hook), f"{OTHERS} (model.build.build)"),
    (lambda: BaseMode().__enter__(), "what overrides torch (TorchFunctionMode)"),
    (lambda: sys.settrace(hook), "what traces calls (sys.settrace, sys.setprofile)"),
    (lambda: sys.setprofile(hook), "what traces calls (sys.settrace, sys.setprofile)"),
    (lambda: locale.setlocale(locale.LC_ALL, "C.UTF-8"), "the locale"),
    (lambda: gc.disable(), "Python's collection of garbage"),
    (lambda: np.seterr(all="ignore"), "numpy's handling of errors (divide)"),
    (lambda: setattr(sys, "stdout", sys.__stdin__), "the output (sys.stdout, sys.stderr)"),
    (lambda: warnings.simplefilter("error"), "Python's warnings, some of them to errors"),
    (lambda: os.open(__file__, os.O_RDONLY), f"which files are open ({__file__})"),
    (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (99, FILES)),
     "the limits of resources (RLIMIT_NOFILE)"),
    (lambda: sys.path.insert(0, "/"), "where modules are found (sys.path)"),
    (lambda: sys.modules.update(json=None), "modules that others import (sys.modules) (json)"),
    (lambda: sys.modules.pop("json", None), "modules that others import (sys.modules) (json)"),
    (lambda: setattr(os, "replace", hook), f"{OTHERS} (os.replace)"),
    (lambda: setattr(time, "time", hook), f"{OTHERS} (time.time)"),
    (lambda: setattr(json, "dumps", hook), f"{OTHERS} (json.dumps)"),
    (lambda: setattr(nn.init, "zeros_", hook), f"{OTHERS} (torch.nn.init.zeros_)"),
    (lambda: torch.autograd.graph.saved_tensors_hooks(*[lambda x: x] * 2).__enter__(),
     "what is kept for gradients (saved_tensors_hooks)"),
    (lambda: torch.autograd.set_multithreading_enabled(False), "torch's threads of gradients"),
    (lambda: logging.disable(), "what is logged (logging.disable)"),
    (lambda: gc.set_threshold(1), "how often garbage is collected"),
    (lambda: sys.setswitchinterval(1), "how often threads take turns"),
    (lambda: socket.setdefaulttimeout(9), "how long sockets wait"),
    (lambda: sys.setrecursionlimit(3000), "Python's limit of recursion"),
    (lambda: setattr(sys, "excepthook", hook), "what is done with errors (sys.excepthook)"),
    (lambda: random.seed(0), "Python's random numbers"),
    (lambda: np.random.seed(0), "numpy's random numbers"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "what"), SWITCHES, ids=map(str, range(len(SWITCHES))))
def test_what_the_process_has_once_stays_and_is_put_back(own, change, what):
    torch.set_float32_matmul_precision("highest")  # a training before sets what it asks for
    before = ProcessState().values

    def mine(scores):
        change()
        return scores.float().softmax(-1)

    said = said_of(own(mine))[1]
    remedy = "draw with torch (torch.rand_like)" if "random" in what else "leave that as it is"
    assert said == f"{TRAINING}it changes {what} for the whole process; {remedy}"
    assert ProcessState().values == before


@pytest.mark.parametrize(
    ("left", "what"),
    [
        (lambda ends: threading.Thread(target=ends.wait, name="mine").start(), r"run \(mine\)"),
        (lambda ends: threading.Timer(0, ends.wait).start(), r"run \(Thread-\d+\)"),
        (lambda ends: subprocess.Popen(["sleep", "9"]), r"run \(process \d+\)"),
        (lambda ends: socket.socket().detach(), r"files are open \(socket:\[\d+\]\)"),
    ],
)
def test_what_goes_on_after_a_call_is_named(own, left, what):
    ends, begun = threading.Event(), []

    def mine(scores):
        begun.append(left(ends))
        return scores.softmax(-1)

    try:
        said = said_of(own(mine))[1]
    finally:
        ends.set()
        for one in begun:
            if isinstance(one, subprocess.Popen):
                one.kill()
                one.wait()
    assert re.search(f"it changes which .*{what} for the whole process", said)


def test_what_has_ended_after_a_call_is_not_named(own):
    def mine(scores):
        thread = threading.Thread(target=sum, args=([],))
        thread.start()
        thread.join()
        subprocess.run(["true"], check=True)
        with open(__file__) as file:
            file.read(1)
        return scores.softmax(-1)

    check_mechanisms(own(mine))


class Listed(nn.Module):
    """Softmax times a parameter of a plain list, which torch does not know."""

    def __init__(self, kind=list):
        super().__init__()
        self.factors = kind([nn.Parameter(torch.ones(()))])

    def forward(self, scores):
        hidden = scores == -torch.inf
        known = scores.masked_fill(hidden, 0) * self.factors[0]
        return known.masked_fill(hidden, -torch.inf).softmax(-1)


class Registered(Listed):
    def __init__(self):
        super().__init__(nn.ParameterList)


class Lazy(nn.Module):
    """Softmax beside a layer that learns its size from what it is given."""

    def __init__(self):
        super().__init__()
        self.layer = nn.LazyLinear(1)

    def forward(self, scores):
        return scores.softmax(-1)


class Stepping(nn.Module):
    """Softmax that is sharper after each 200 calls in training."""

    calls = 0

    def forward(self, scores):
        if self.training:
            self.calls += 1
        return (scores * (1 + self.calls // 200)).softmax(-1)


class Sized(nn.Module):
    """Softmax less a distance, which is kept for one length, as a tensor and a number."""

    keys = 0

    def forward(self, scores):
        if self.keys != scores.shape[3]:
            self.keys, self.far = scores.shape[3], torch.arange(scores.shape[3])
        self.last = (scores - self.far).softmax(-1)
        return self.last


class Off(nn.Module):
    """Softmax that ends training."""

    def forward(self, scores):
        self.eval()
        return scores.softmax(-1)


FACTOR = nn.Parameter(torch.ones(()))


def of_module(scores):
    """Softmax times a parameter that no class has."""
    hidden = scores == -torch.inf
    return (scores.masked_fill(hidden, 0) * FACTOR).masked_fill(hidden, -torch.inf).softmax(-1)


def stopping(scores):
    """Softmax whose gradient is taken away on its way back."""
    if scores.requires_grad:
        scores.register_hook(lambda gradient: gradient * 0)
    return scores.softmax(-1)


class Locked(nn.Module):
    """Softmax beside what can't be copied."""

    def __init__(self):
        super().__init__()
        self.lock = threading.Lock()

    def forward(self, scores):
        return scores.softmax(-1)


class Blocking(torch.autograd.Function):
    """Softmax without a gradient."""

    @staticmethod
    def forward(context, scores):
        return scores.softmax(-1)

    @staticmethod
    def backward(context, gradient):
        return None


class Late(nn.Module):
    """Sets Python's random numbers at the very last call."""

    def forward(self, scores):
        if not self.training and not torch.is_grad_enabled():
            random.seed(0)
        return scores.softmax(-1)


class Later(nn.Module):
    """Softmax in training, and a hard choice afterwards."""

    def forward(self, scores):
        return scores.softmax(-1) if self.training else hard(scores)


def careful(scores):
    """Softmax that changes a state of the process and puts it back."""
    with torch.autograd.set_detect_anomaly(False), torch.backends.cudnn.flags(enabled=False):
        return scores.softmax(-1)


KEPT = (
    "given scores (2, 4, 5, 7) after training, it changes what it keeps, such as a buffer, so what "
    "a text gets depends on the texts before; change that in training alone (self.training)"
)
NO_GRADIENT = TRAINING + "its weights change with the scores and pass no gradient"
REFUSED = [
    (lambda scores: None, TRAINING + "it returns NoneType, no tensor"),
    (lambda scores: scores.amax(-1), TRAINING + "its weights have the shape (2, 4, 5)"),
    (lambda s: (0 * s).softmax(-1), TRAINING + "some weights are not finite; take the -inf"),
    (lambda s: 2 * s.softmax(-1) - 1 / s.shape[-1], TRAINING + "some weights are negative"),
    (lambda s: torch.ones_like(s) / s.shape[-1], TRAINING + "masked keys get a weight"),
    (lambda s: 2 * s.softmax(-1), TRAINING + "rows sum to 2 to 2, not to 1"),
    (endless, TRAINING + "the gradient of its weights is not finite"),
    (Careless, TRAINING + "the gradient of its weights is not finite; mind the"),
    (steep, TRAINING + "the gradient of its weights reaches "),
    (lambda scores: 1 / 0, TRAINING + "it fails with ZeroDivisionError: division by zero"),
    (lambda s: s.exp_() / s.sum(), TRAINING + "it changes the scores that it is given; compute"),
    (
        lambda s: (s + torch.zeros(7)).softmax(-1),
        OF_ONE + "its weights have the shape (3, 4, 1, 7)",
    ),
    (for_few, OF_ONE),
    (Hasty, "given scores (2, 4, 5, 7) after training, rows sum to 3 to 3, not to 1"),
    (Counting, "in training, what it returns depends on earlier calls by something"),
    (Mixing, "in training, what a text gets changes with another text of its batch"),
    (noisy, "after training, it draws random numbers; do so in training alone (self.training)"),
    (seeding, "in training, it sets the seed of torch's random numbers"),
    (double_precision, "in training, its weights are torch.float64, and those of torch.float32"),
    (by_texts, "after training, what a text gets changes with the number of texts in its batch"),
    (by_place, "in training, what a text gets changes with its place in the batch"),
    (leaving, "in training, it fails with SystemExit: 0"),
    (windowed, "in training, some rows are not finite: a query of padding may have no key"),
    (Locked, "copied for each layer, it fails with TypeError: cannot pickle"),
    (lambda s: Blocking.apply(s), "its weights change with the scores and pass no gradient"),
    (Listed, "in training, it learns a parameter that is none of its own, which is neither"),
    (of_module, "in training, it learns a parameter that is none of its own, which is neither"),
    (lambda s: nn.Parameter(s.softmax(-1)), "it learns a parameter that is none of its own"),
    (stopping, "in training, its weights change with the scores and pass no gradient to them"),
    (Lazy, "its parameters have no size before it is called; build them with their sizes"),
    (Stepping, "in training, it keeps calls, which changes with each call and is not saved"),
    (Off, "in training, it switches training on or off (train, eval); leave that to the run"),
    (failing(TypeError("It can't.\nNo.")), "TypeError: It can't\n"),
    (lambda s: hard(s), NO_GRADIENT),
    (lambda s: torch.no_grad()(torch.softmax)(s, -1), NO_GRADIENT),
    (lambda s: s.detach().softmax(-1), NO_GRADIENT),
    (wrapped(lambda: Averaging(True)), KEPT),
    (wrapped(lambda: Averaging(True, used=False)), KEPT),
    (wrapped(Extra), KEPT),
    (Late, "given scores (2, 4, 5, 7) after training, it changes Python's random"),
]


@pytest.mark.parametrize(("mechanism", "fault"), REFUSED, ids=[fault for _, fault in REFUSED])
def test_what_is_no_attention_is_refused(own, mechanism, fault):
    name, said = said_of(own(mechanism))
    assert name == "own_attention:mine" and fault in f"{said}\n"


PASSING = [
    *(Constant, DrawnInTraining, Learned, Registered, Sized, passing, Later, careful),
    *map(wrapped, (Persistent, lambda: Averaging(False), Cached)),
]


@pytest.mark.parametrize("mechanism", PASSING)
def test_weights_that_can_be_trained_pass(own, mechanism):
    check_mechanisms(own(mechanism))


def test_the_lengths_of_the_run_are_tried(own, unlabelled):
    def short(scores):
        assert scores.shape[-1] <= 50, "at most 50 keys"
        return scores.softmax(-1)

    check_mechanisms(own(short))
    said = said_of(own(short), corpus=unlabelled)[1]
    assert (
        said
        == "given scores (2, 4, 60, 60) in training, it fails with AssertionError: at most 50 keys"
    )
