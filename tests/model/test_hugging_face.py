"""Mechanisms in tiny random models of transformers, beside its own `eager` attention."""

import importlib
import inspect
import pkgutil
import re
import runpy

import pytest
import torch
import transformers
from torch import Tensor, nn

from model import normalizers
from model.hugging_face import attend, register
from model.normalizers.entmax15 import Entmax15
from tests.workflow.conftest import ROOT
from tests.workflow.pages.guides import files

SIZES = {"hidden_size": 32, "intermediate_size": 48, "num_attention_heads": 4, "vocab_size": 24}
PAIRS = {"d_model": 32, "vocab_size": 24, "decoder_start_token_id": 0, "pad_token_id": 0}
HEADS = {"encoder_attention_heads": 4, "decoder_attention_heads": 4}
DEPTHS = {"encoder_layers": 2, "decoder_layers": 2, "attention_dropout": 0.1}
LLAMA = {"num_hidden_layers": 2, "num_key_value_heads": 2, "attention_dropout": 0.1}
MODELS = {
    "llama": lambda: transformers.LlamaForCausalLM(transformers.LlamaConfig(**SIZES, **LLAMA)),
    "bert": lambda: transformers.BertForMaskedLM(
        transformers.BertConfig(**SIZES, num_hidden_layers=2)
    ),
    "marian": lambda: transformers.MarianMTModel(
        transformers.MarianConfig(**PAIRS, **HEADS, **DEPTHS, forced_eos_token_id=None)
    ),
    "t5": lambda: transformers.T5ForConditionalGeneration(
        transformers.T5Config(**PAIRS, num_layers=2, num_heads=4, d_kv=8, d_ff=48)
    ),
}
READERS = {
    "Gated": "gated",
    "Forgetting": "forgetting",
    "ThresholdRelative": "threshold_relative",
    "LightningIndexer": "lightning_indexer",
}
"""Mechanisms that read states, with their files."""
BY_PATH = {
    f"{module.__name__}:{name}": part
    for found in pkgutil.iter_modules(normalizers.__path__, "model.normalizers.")
    for module in [importlib.import_module(found.name)]
    for name, part in inspect.getmembers(module, inspect.isclass)
    if issubclass(part, nn.Module) and part.__module__ == module.__name__ and name not in READERS
}
NAMES = {path: path.partition(":")[2].lower() for path in BY_PATH}
for path, name in NAMES.items():
    register(name, path, **({"k": 2} if "topk" in path else {}))
REAL = torch.ones(2, 6, dtype=torch.bool)
REAL[1, 4:] = False


def steep(scores: Tensor, sharpness: float) -> Tensor:
    """A user's own mechanism."""
    return (scores * sharpness).softmax(dim=-1)


register("steep", "tests.model.test_hugging_face:steep", sharpness=2.0)


def made(kind: str, name: str = "eager") -> transformers.PreTrainedModel:
    """A model with scores of many sizes, in training."""
    torch.manual_seed(0)
    model = MODELS[kind]()
    for parameter in model.parameters():
        if parameter.dim() > 1:
            nn.init.normal_(parameter, std=0.8)
    model.set_attn_implementation(name)
    return model.train()


def run(model: transformers.PreTrainedModel, real: Tensor = REAL, **more: object) -> dict:
    """A batch of two texts: scores of words (real words, V), and lists of weights by their name."""
    tokens = {"input_ids": torch.arange(12).view(2, 6) + 3, "attention_mask": real.long()}
    if model.config.is_encoder_decoder:
        tokens |= {f"decoder_{name}": value for name, value in tokens.items()}
    torch.manual_seed(1)
    found = model(**tokens, output_attentions=True, **more)
    weights = {name: value for name, value in found.items() if name.endswith("attentions")}
    return {"logits": found.logits[real], **weights}


def assert_same_gradients(ours: nn.Module, eager: nn.Module) -> None:
    """Gradients of all parameters but those of sinusoids, which have none."""
    expected = {name: parameter.grad for name, parameter in eager.named_parameters()}
    found = {name: parameter.grad for name, parameter in ours.named_parameters()}
    assert {name for name, one in found.items() if one is None} == {
        name for name in expected if "embed_positions" in name
    }
    for name in found.keys() - {name for name in found if "embed_positions" in name}:
        assert torch.equal(found[name], expected[name]), name


@pytest.mark.parametrize("kind", MODELS)
def test_softmax_is_eager_bit_for_bit(kind):
    """Words, weights and gradients, with padding and dropout."""
    eager, ours = made(kind), made(kind, "saccade_softmax")
    expected, found = run(eager), run(ours)
    assert found.keys() == expected.keys() and len(found) == (4 if kind in ("marian", "t5") else 2)
    assert torch.equal(found.pop("logits"), expected.pop("logits"))
    for name, layers in found.items():
        for weights, others in zip(layers, expected[name], strict=True):
            assert torch.equal(weights, others)
    for model in (eager, ours):
        run(model)["logits"].square().sum().backward()
    assert_same_gradients(ours, eager)


@pytest.mark.parametrize("name", ["topk", "entmax15", "sparsemax"])
@pytest.mark.parametrize("kind", MODELS)
def test_sparse_weights_have_exact_zeros_and_rows_sum_to_1(kind, name):
    found = run(made(kind, f"saccade_{name}").eval())
    for layers in list(found.values())[1:]:
        for weights in layers:
            assert (weights[1, ..., 4:] == 0).all()
            assert (weights[0, :, -1] == 0).any()
            assert torch.allclose(weights.sum(-1), torch.ones(()), atol=1e-6)


def test_a_query_without_a_key_has_weights_of_0_and_changes_no_gradient():
    """Texts that are padded on the left: a causal model's first queries see no word."""
    real = REAL.flip(1)
    eager, ours = made("llama"), made("llama", "saccade_softmax")
    found = run(ours, real)
    assert torch.equal(found["logits"], run(eager, real)["logits"])
    for weights in found["attentions"]:
        assert (weights[1, :, :2] == 0).all()
    for model in (eager, ours):
        run(model, real)["logits"].square().sum().backward()
    assert_same_gradients(ours, eager)


@pytest.mark.parametrize("name", ["softmax", "entmax15", "steep"])
@pytest.mark.parametrize("kind", ["llama", "marian", "t5"])
def test_generate_writes_the_same_with_a_cache_as_without(kind, name):
    model = made(kind, f"saccade_{name}").eval()
    given = {"input_ids": torch.arange(12).view(2, 6) + 3, "attention_mask": REAL.flip(1).long()}
    with_cache, without = (
        model.generate(**given, max_new_tokens=5, do_sample=False, use_cache=cache, pad_token_id=0)
        for cache in (True, False)
    )
    assert torch.equal(with_cache, without) and with_cache.shape[1] > 5


def test_selective_attention_is_refused_where_a_cache_leaves_queries_out():
    name = f"saccade_{NAMES['model.normalizers.selective:Selective']}"
    model, given = made("llama", name).eval(), {"input_ids": torch.arange(6)[None] + 3}
    with pytest.raises(ValueError, match=f"{name} needs all queries at once.*use_cache=False"):
        model.generate(**given, max_new_tokens=3, do_sample=False)
    model.generate(**given, max_new_tokens=3, do_sample=False, use_cache=False)


@pytest.mark.parametrize("name", READERS)
def test_a_mechanism_that_reads_states_is_refused(name):
    register(name, f"model.normalizers.{READERS[name]}:{name}")
    with torch.no_grad(), pytest.raises(ValueError, match=f"saccade_{name} reads states"):
        made("llama", f"saccade_{name}")(input_ids=torch.arange(6)[None] + 3)


@pytest.mark.parametrize("path", BY_PATH)
def test_every_mechanism_trains_in_copies_of_each_layer(path):
    """With queries without a key; their gradient is finite, too."""
    name, real = f"saccade_{NAMES[path]}", REAL.flip(1)
    model = made("llama", name).eval()
    with torch.inference_mode():
        run(model, real)
    first, second = (getattr(layer.self_attn, name) for layer in model.model.layers)
    assert first is not second and type(first) is BY_PATH[path] and not first.training
    assert model.train().training and first.training
    run(model, real)["logits"].square().sum().backward()
    for own, other in zip(first.parameters(), second.parameters(), strict=True):
        assert own is not other and own.grad.any()
    for parameter in model.parameters():
        assert parameter.grad is None or parameter.grad.isfinite().all()
    assert [getattr(one, "depth", None) for one in (first, second)] in ([0, 1], [None, None])


def test_what_is_learned_is_there_before_the_optimizer_is_made():
    model = made("bert", "saccade_entmaxalpha")
    with pytest.raises(RuntimeError, match="call the model once under"):
        run(model)
    with torch.no_grad():
        run(model)
    saved = {name: torch.full_like(value, 0.7) for name, value in model.state_dict().items()}
    model.load_state_dict(saved)
    assert model.bert.encoder.layer[1].attention.self.saccade_entmaxalpha.logit.max() == 0.7
    names = [name for name, _ in model.named_parameters() if "saccade" in name]
    assert names == [
        f"bert.encoder.layer.{i}.attention.self.saccade_entmaxalpha.logit" for i in (0, 1)
    ]


SHAPE = (2, 4, 3, 5)
FLOAT = torch.finfo(torch.float32).min


def attended(mask: Tensor | None, node: dict, **more: object) -> tuple[Tensor, ...]:
    """Queries, keys and values of two heads each, what a mechanism reads, and its weights."""
    torch.manual_seed(0)
    query, key, value = torch.randn(2, 4, 3, 8), torch.randn(2, 2, 5, 8), torch.randn(2, 2, 5, 8)
    layer = nn.Identity().eval()
    with torch.no_grad():
        attend("own", node, layer, query, key, value, mask, **more)
    context, weights = attend("own", node, layer, query, key, value, mask, **more)
    if context.requires_grad:
        context.square().sum().backward()
    assert all(parameter.grad.isfinite().all() for parameter in layer.own.parameters())
    return query, key, value, layer.own, context, weights


@pytest.mark.parametrize("hidden", [FLOAT, torch.finfo(torch.bfloat16).min, -torch.inf, None])
def test_masks_that_are_true_or_added_mean_the_same(hidden):
    seen = torch.rand(SHAPE) < 0.6
    seen[0, 0, 0] = False
    bias = torch.randn(SHAPE)
    mask = seen if hidden is None else bias.masked_fill(~seen, hidden)
    more = {"position_bias": bias} if hidden is None else {}
    query, key, value, own, context, weights = attended(
        mask, {"path": "model.normalizers.entmax_alpha:EntmaxAlpha"}, scaling=0.7, **more
    )
    assert (own.alpha == 1.5).all()
    for b, h, t in torch.cartesian_prod(*map(torch.arange, SHAPE[:3])).tolist():
        scores = key[b, h // 2] @ query[b, h, t] * 0.7 + bias[b, h, t]
        row = torch.zeros(5)
        if seen[b, h, t].any():
            row[seen[b, h, t]] = Entmax15()(scores[seen[b, h, t]])
        assert torch.allclose(weights[b, h, t], row, atol=1e-6)
        assert torch.allclose(context[b, t, h], row @ value[b, h // 2], atol=1e-5)


def test_a_step_after_reading_is_taken():
    node = {"path": "model.normalizers.rela:ReLA"}
    query, key, value, own, context, weights = attended(None, node)
    keys, values = (states.repeat_interleave(2, dim=1) for states in (key, value))
    assert torch.equal(weights, (query @ keys.mT * 8**-0.5).relu())
    assert torch.equal(context, own.after(weights @ values).transpose(1, 2))


@pytest.mark.parametrize(("given", "learned"), [({}, 4), ({"heads": None}, 0)])
def test_an_argument_that_is_given_is_not_that_of_the_layer(given, learned):
    """`Sink` is softmax-1 without heads, and learns a logit for each where it has them."""
    *_, own, _, _ = attended(None, {"path": "model.normalizers.sink:Sink", **given})
    assert sum(parameter.numel() for parameter in own.parameters()) == learned


def test_weights_in_half_precision_are_those_of_the_mechanism_rounded():
    model = made("llama", "saccade_entmax15").eval().bfloat16()
    scores = []
    run(model)
    for layer in model.model.layers:
        layer.self_attn.saccade_entmax15.register_forward_hook(
            lambda _, given, weights: scores.append((given[0], weights))
        )
    found = run(model)
    for weights, (given, full) in zip(found["attentions"], scores, strict=True):
        assert given.dtype == weights.dtype == torch.bfloat16 and full.dtype == torch.float32
        assert torch.equal(weights, full.bfloat16())
    softmax, eager = (made("llama", name).bfloat16() for name in ("saccade_softmax", "eager"))
    assert torch.equal(run(softmax)["logits"], run(eager)["logits"])


WRONG = {
    "narrow": (lambda scores: scores.softmax(-1)[:, :1], "its weights have the shape"),
    "listed": (lambda scores: [scores.softmax(-1)], "its weights have the shape"),
    "doubled": (lambda scores: scores.softmax(-1) * 2, "rows sum to 2 to 2, not to one"),
    "even": (lambda scores: torch.full_like(scores, 1 / 6), "masked keys get a weight"),
    "lost": (lambda scores: scores.softmax(-1) * torch.nan, "some weights are not finite"),
    "signed": (lambda scores: 2 * scores.softmax(-1) - scores.sigmoid(), "some weights are neg"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_are_no_weights_is_refused_in_each_pass(name, monkeypatch):
    monkeypatch.setitem(globals(), name, WRONG[name][0])
    register(name, f"{__name__}:{name}")
    model = made("bert", f"saccade_{name}")
    for _ in range(2):
        with pytest.raises(ValueError, match=f"^saccade_{name}: {WRONG[name][1]}.*own_mechanism"):
            run(model)


DEPENDENT = {
    "in_place": (lambda scores: scores.mul_(2).softmax(-1), "it changes the scores"),
    "mixing": (
        lambda scores: (scores + scores.clamp(min=-9).mean(0)).softmax(-1),
        "what a text gets changes with another text",
    ),
    "placed": (
        lambda scores: (scores * torch.arange(1, len(scores) + 1)[:, None, None, None]).softmax(-1),
        "what a text gets changes with its place in the batch",
    ),
    "drawn": (
        lambda scores: (scores + torch.randn_like(scores)).softmax(-1),
        "it draws random numbers outside training",
    ),
    "foreseeing": (
        lambda scores: (scores + scores.clamp(min=-9).mean(2, keepdim=True)).softmax(-1),
        "what a query gets changes with later ones",
    ),
}


@pytest.mark.parametrize("name", DEPENDENT)
def test_weights_that_depend_on_what_they_must_not_are_refused(name, monkeypatch):
    monkeypatch.setitem(globals(), name, DEPENDENT[name][0])
    register(name, f"{__name__}:{name}")
    model = made("llama", f"saccade_{name}")
    for _ in range(2):
        with pytest.raises(ValueError, match=f"^saccade_{name}: {DEPENDENT[name][1]}"):
            run(model)


def test_where_no_future_is_masked_a_query_may_look_at_later_ones(monkeypatch):
    monkeypatch.setitem(globals(), "foreseeing", DEPENDENT["foreseeing"][0])
    register("foreseeing", f"{__name__}:foreseeing")
    assert run(made("bert", "saccade_foreseeing"))["logits"].isfinite().all()


@pytest.mark.parametrize(
    ("path", "arguments", "said"),
    [
        ("model.normalizers.topk:TopK", {"kk": 3}, "TopK takes no argument 'kk', only: k"),
        (f"{__name__}:steep", {}, "needs 'sharpness': give it to register, sharpness=..."),
        (f"{__name__}:steep", {"sharpness": 2, "scores": 1}, "no argument 'scores', only: sharp"),
        ("model.normalizers.softmax:Softmax", {"k": 1}, "takes no argument 'k', only: none"),
    ],
)
def test_an_argument_that_is_missing_or_unknown_is_named_before_a_model_is_made(
    path, arguments, said
):
    with pytest.raises(ValueError, match=said):
        register("odd", path, **arguments)


def test_a_path_that_names_nothing_is_refused():
    with pytest.raises(ValueError, match=r"'model.normalizers.softmax:Sofmax' cannot be imported"):
        register("sofmax", "model.normalizers.softmax:Sofmax")


def test_a_name_has_one_mechanism():
    register("softmax", "model.normalizers.softmax:Softmax")
    with pytest.raises(ValueError, match=r"^saccade_topk is already .*'k': 2.*; take another name"):
        register("topk", "model.normalizers.topk:TopK", k=3)


@pytest.mark.parametrize(("kind", "part"), [("Gemma2", "softcap"), ("GptOss", "s_aux")])
def test_attention_with_another_part_is_refused(kind, part):
    config = getattr(transformers, f"{kind}Config")(**SIZES, num_hidden_layers=1, head_dim=8)
    model = getattr(transformers, f"{kind}ForCausalLM")(config)
    model.set_attn_implementation("saccade_softmax")
    with pytest.raises(ValueError, match=f"this model has '{part}'; take another model"):
        run(model)


def test_the_page_does_what_it_says(tmp_path, monkeypatch, capsys):
    """With a tiny BERT in a folder of the name that the page gives."""
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "dog", "sleeps", "."]
    (tmp_path / "words.txt").write_text("\n".join(words))
    folder = tmp_path / "bert-base-uncased"
    transformers.BertTokenizer(str(tmp_path / "words.txt")).save_pretrained(folder)
    made("bert").save_pretrained(folder)
    monkeypatch.chdir(tmp_path)
    ((name, text),) = files(ROOT / "docs/transformers.md").items()
    (tmp_path / name).write_text(text)
    runpy.run_path(name)
    (share,) = re.findall(r"^(\d+)% of the first layer's weights are 0\.$", capsys.readouterr().out)
    assert int(share) > 0
