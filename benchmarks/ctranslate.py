"""The same weights in CTranslate2, the engine for transformers in C++ (Klein et al. 2020).

Its search differs from ours in three rules that its interface does not offer: the longest
translation is one number for all sentences of a batch; a translation that reaches it ends there,
where ours ends with EOS and counts it; and any word may be written, PAD and BOS too.
"""

from __future__ import annotations

import tempfile
from typing import Any

from torch import Tensor, nn

from model.architectures.translation.beam_search import Beam
from model.architectures.translation.encoder_decoder import EncoderDecoder
from model.batches.batching import BOS, PAD
from model.batches.pairs import EOS, PairBatch


class CTranslate2:
    """A translator on one thread.

    Args:
        model: soft, post-norm, all words tied.
        kind: of its arithmetic, `float32` or `int8`.
    """

    def __init__(self, model: EncoderDecoder, kind: str) -> None:
        import ctranslate2
        from ctranslate2.specs import TransformerSpec
        from ctranslate2.specs.model_spec import index_spec

        spec = TransformerSpec.from_config(model.layers, model.heads, pre_norm=False)
        for name, value in variables(model).items():
            place, _, last = name.rpartition("/")
            setattr(index_spec(spec, place), last, value.detach().numpy())
        words = [str(number) for number in range(len(model.output_weight))]
        spec.register_source_vocabulary(words)
        spec.register_target_vocabulary(words)
        spec.config.unk_token, spec.config.bos_token, spec.config.eos_token = map(
            str, (PAD, BOS, EOS)
        )
        spec.config.decoder_start_token = str(BOS)
        spec.validate()
        with tempfile.TemporaryDirectory() as folder:
            spec.save(folder)
            self.translator = ctranslate2.Translator(
                folder, compute_type=kind, inter_threads=1, intra_threads=1
            )

    def translate(self, batch: PairBatch, settings: Beam) -> list[list[int]]:
        """The best translation of each source of a batch, without EOS."""
        rows = zip(batch.source, batch.source_layout.real, strict=True)
        sources = [list(map(str, source[real].tolist())) for source, real in rows]
        longest = int(settings.length_ratio * batch.source.shape[1]) + settings.length_extra
        found = self.translator.translate_batch(
            sources,
            beam_size=settings.beam,
            length_penalty=settings.alpha,
            min_decoding_length=0,
            max_decoding_length=longest - 1,
        )
        return [[int(word) for word in one.hypotheses[0]] for one in found]


def variables(model: EncoderDecoder) -> dict[str, Tensor]:
    """The weights by CTranslate2's names."""
    target: Any = model.target
    table, positions = model.output_weight, target.position
    named = {"encoder/embeddings_0/weight": table}
    named |= {f"decoder/{part}/weight": table for part in ("embeddings", "projection")}
    named |= {f"{side}/position_encodings/encodings": positions for side in ("encoder", "decoder")}
    for side, stack in {"encoder": model.encoder, "decoder": model.decoder}.items():
        for number, layer in enumerate(stack):
            for part, module in _modules(layer).items():
                norm = isinstance(module, nn.LayerNorm)
                place = f"{side}/layer_{number}/{part}"
                named[f"{place}/{'gamma' if norm else 'weight'}"] = module.weight
                named[f"{place}/{'beta' if norm else 'bias'}"] = module.bias
    return named


def _modules(layer: Any) -> dict[str, Any]:
    """What a layer is made of, by CTranslate2's names."""
    made = {
        "self_attention/linear_0": layer.read.project,
        "self_attention/linear_1": layer.read.output,
        "self_attention/layer_norm": layer.attend.norm,
        "ffn/linear_0": layer.feed_forward[0],
        "ffn/linear_1": layer.feed_forward[3],
        "ffn/layer_norm": layer.transform.norm,
    }
    if hasattr(layer, "cross"):
        made |= {
            "attention/linear_0": layer.cross.query,
            "attention/linear_1": layer.cross.memory,
            "attention/linear_2": layer.cross.output,
            "attention/layer_norm": layer.consult.norm,
        }
    return made
