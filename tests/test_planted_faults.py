"""Plant a fault in a copy of the project, and see that the test which should catch it fails."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

FAULTS = {
    "causal mask off": (
        "model/architectures/language_model.py",
        "mask = causal_mask(tokens.shape[1], tokens.device)",
        "mask = 0 * causal_mask(tokens.shape[1], tokens.device).isinf().float()",
        "model/architectures/test_transformer.py::test_a_causal_prediction_ignores_the_future",
    ),
    "padding mask off": (
        "model/layers/attention.py",
        "masked_fill(~real, -math.inf)",
        "masked_fill(~real, 0.0)",
        "model/architectures/test_transformer.py::test_a_class_ignores_padding",
    ),
    "penalty sign": (
        "model/objectives/language_modelling.py",
        "nll + self.strength(epoch) * size",
        "nll - self.strength(epoch) * size",
        "model/architectures/test_transformer.py::test_the_objective_adds_lambda_times_the_mean_field",
    ),
    "tau sign": (
        "model/probes/importance/classification.py",
        "tau_b(attention, importance, lengths)",
        "tau_b(-attention, importance, lengths)",
        "model/probes/test_probes.py::test_tau_is_positive_where_attention_is_made_of_importance",
    ),
    "seed ignored": (
        "model/training/loop.py",
        'torch.manual_seed(spec["seed"])',
        "torch.manual_seed(0)",
        "model/training/test_training.py::test_seeds_give_different_runs_and_one_seed_the_same",
    ),
    "files of a result not compared": (
        "model/store/runs.py",
        'check_files(folder, record["files"])',
        "pass",
        "model/store/test_store.py::test_a_damaged_result_is_set_aside_and_counts_as_not_finished",
    ),
    "a checksum over another part": (
        "model/store/checksums.py",
        "head, rest = content[:LENGTH], content[LENGTH:]",
        "head, rest = content[:LENGTH], content[LENGTH + 1 :]",
        "model/store/test_checksums.py",
    ),
    "identity without data": (
        "workflow/planning/identity.py",
        'counted["data"] = {key: value for key, value in spec["data"].items() if key != "recipe"}',
        'counted["data"] = {}',
        "planning/test_identity.py",
    ),
    "resume without RNG": (
        "model/training/loop.py",
        'torch.set_rng_state(state["random"]["cpu"].cpu())',
        "pass",
        "model/training/test_training.py::test_resuming_is_bit_identical",
    ),
    "argmax in training": (
        "model/normalizers/gumbel.py",
        "if not self.training:",
        "if True:",
        "model/normalizers/test_normalizers.py::test_gumbel_is_soft_in_training_and_hides_masked_keys",
    ),
    "shared embeddings by mistake": (
        "model/architectures/two_stream.py",
        "self.embedding if share_embeddings else Embedding(*embed)",
        "self.embedding",
        "model/architectures/test_transformer.py::test_the_streams_have_embeddings_of_their_own_unless_shared",
    ),
    "wrong residual": (
        "model/layers/blocks.py",
        "x = x + self.dropout(y)",
        "x = self.norm(x) + self.dropout(y)",
        "model/architectures/test_transformer.py::test_the_two_stream_update_equals_the_papers_equations",
    ),
    "attention on the next position": (
        "model/objectives/copying.py",
        "prediction.weights.diagonal(dim1=1, dim2=2)[:, :-1]",
        "prediction.weights.diagonal(1, dim1=1, dim2=2)",
        "model/architectures/test_copying.py::test_the_metrics_equal_a_slow_count",
    ),
    "heads averaged": (
        "model/architectures/multihead_copying.py",
        "weights.sum(dim=1) @ h",
        "weights.mean(dim=1) @ h",
        "model/architectures/test_multihead_copying.py::test_the_model_equals_its_equations",
    ),
    "forget gate's gradient sign": (
        "model/kernels/recurrence.py",
        "torch.mul(d_c * c[t], f - f * f, out=d_f)",
        "torch.mul(d_c * c[t], f * f - f, out=d_f)",
        "model/kernels/test_recurrence.py::test_states_and_all_gradients_are_those_of_torch",
    ),
    "one controller for both views": (
        "model/architectures/multiview.py",
        "zip(self.controllers, tokens, real, strict=True)",
        "zip([self.controllers[0]] * len(tokens), tokens, real, strict=True)",
        "model/architectures/test_multiview.py::test_a_controller_learns_from_its_own_view_alone",
    ),
    "seen in another split than train": (
        "workflow/datasets/multiview_arithmetic.py",
        'if split == "train":',
        'if split == "dev":',
        "datasets/test_multiview_arithmetic.py::test_seen_marks_what_train_has",
    ),
    "simplex of another size": (
        "model/normalizers/sparsemax.py",
        ".cumsum(-1).add_(1)",
        ".cumsum(-1).add_(2)",
        "model/normalizers/test_sparse_normalizers.py::test_weights_and_gradients_are_those_of_the_library",
    ),
    "discordant pairs counted once": (
        "model/probes/kendall.py",
        "- 2 * _inversions(y)",
        "- _inversions(y)",
        "model/probes/test_kendall.py::test_tau_by_hand",
    ),
    "deleted and kept words swapped": (
        "model/probes/importance/deletion.py",
        "return rest, top",
        "return top, rest",
        "model/probes/importance/test_deletion.py::test_a_single_decisive_token_by_hand",
    ),
    "field without the residual": (
        "model/probes/fields/effective_field.py",
        "field = field | (",
        "field = (",
        "model/probes/fields/test_effective_field.py::test_the_field_by_hand",
    ),
    "a mirror's file not verified": (
        "workflow/datasets/fetched/mirrors.py",
        "mismatch(listed, (sha256(path), path.stat().st_size))",
        "mismatch(listed, listed)",
        "datasets/fetched/test_mirrors.py::test_a_wrong_file_or_index_is_named_and_never_accepted",
    ),
    "quotes left in": (
        "workflow/datasets/newsgroups.py",
        "if not QUOTE.search(line)",
        "if line.strip()",
        "datasets/test_newsgroups.py::test_headers_quotes_and_footer_are_taken_away",
    ),
    "length penalty sign": (
        "model/architectures/translation/beam_search.py",
        "base**self.alpha",
        "base**-self.alpha",
        "model/architectures/translation/test_decoding.py::test_penalties_by_hand",
    ),
    "pasts not following their beams": (
        "model/architectures/translation/beam_search.py",
        "= self.ancestors.gather(1, path), self.words.gather(1, path)",
        "= self.ancestors, self.words.gather(1, path)",
        "model/architectures/translation/test_decoding.py::test_the_search_equals_the_plain_one[pre-softmax]",
    ),
    "a hypothesis goes on after EOS": (
        "model/architectures/translation/beam_search.py",
        "totals.masked_fill(ends, -math.inf).topk(beams)",
        "totals.topk(beams)",
        "model/architectures/translation/test_decoding.py::test_the_search_equals_the_plain_one[pre-top-k]",
    ),
    "cross-attention reads padding": (
        "model/architectures/translation/encoder_decoder.py",
        "masks, used = (mask, encoding.mask)",
        "masks, used = (mask, encoding.mask.clamp(min=0))",
        "model/architectures/translation/test_encoder_decoder.py::test_padding_changes_nothing[post-softmax]",
    ),
    "padding is predicted and smoothed": (
        "model/batches/pairs.py",
        "Layout(torch.from_numpy(real))",
        "Layout(torch.from_numpy(real | True))",
        "model/objectives/test_translation.py::test_the_loss_is_that_of_torchs_transformer",
    ),
    "BLEU of words split anew": (
        "model/probes/quality/translation_scores.py",
        '"tokenize": "none"',
        '"tokenize": "13a"',
        "model/probes/test_translation_scores.py::test_bleu_in_words_is_papinenis",
    ),
    "compounds left whole": (
        "model/probes/quality/translation_scores.py",
        "without_compounds(hypotheses), without_compounds(references)",
        "hypotheses, references",
        "model/probes/test_translation_scores.py::test_bleu_in_words_is_papinenis",
    ),
    "rare sub-words left whole": (
        "workflow/datasets/encoded/subwords.py",
        "if corpus.threshold > 1:",
        "if False:",
        "datasets/encoded/test_parallel_encoding.py::test_rare_sub_words_are_split_further",
    ),
    "importance of EOS counted": (
        "model/probes/importance/translation.py",
        "words = lengths[examples, 0] - 1",
        "words = lengths[examples, 0]",
        "model/probes/importance/test_translation_importance.py"
        "::test_tau_is_scipys_averaged_over_the_predictions_of_a_sentence",
    ),
    "states not following their hypotheses": (
        "model/architectures/translation/with_roles.py",
        "part[sentences, continued] for part",
        "part for part",
        "model/architectures/translation/test_role_translator.py::test_the_search_equals_the_plain_one[softmax]",
    ),
    "a target role reads the next token": (
        "model/layers/role_context.py",
        "0 if causal else window // 2",
        "1 if causal else window // 2",
        "model/layers/test_role_interaction.py::test_no_later_target_token_changes_a_role[convolution]",
    ),
    "captions of another image": (
        "model/architectures/translation/captioner.py",
        "encoding.select(batch.owners)",
        "encoding.select(batch.owners.flip(0))",
        "model/architectures/translation/test_captioning.py"
        "::test_an_image_with_all_its_captions_says_what_one_caption_at_a_time_does",
    ),
    "CIDEr counts repeated words": (
        "model/probes/quality/caption_metrics.py",
        "min(x, theirs.get(gram, 0))",
        "x",
        "model/probes/test_caption_scores.py::test_cider_by_hand",
    ),
    "an image keeps its caption": (
        "model/probes/quality/caption_scores.py",
        "np.roll(order, 1)",
        "np.roll(order, 0)",
        "model/probes/test_caption_scores.py::test_captions_are_scored_in_the_order_of_the_split",
    ),
    "photos in the order of the archive": (
        "workflow/datasets/kinds/photos.py",
        "arrays[split][number] =",
        "arrays[split][len(arrays[split]) - 1 - number] =",
        "datasets/test_flickr8k.py::test_captions_and_pixels_stand_in_the_order_of_the_lists",
    ),
    "features of any width": (
        "workflow/datasets/kinds/image_features.py",
        "if rows.shape[1] != width:",
        "if False:",
        "datasets/test_coco.py::test_bad_input_is_one_sentence_of_the_program",
    ),
    "systems drawn apart": (
        "workflow/reporting/statistics/bootstrap.py",
        "bleu(times @ counts)",
        "bleu(np.stack([times @ counts[:, 0], times[::-1] @ counts[:, 1]], 1))",
        "reporting/statistics/test_bootstrap_bleu.py::test_scores_and_samples_are_sacrebleus",
    ),
    "distances shifted by one": (
        "model/architectures/transformer_xl.py",
        "flat[..., rows - 1 : rows - 1 + rows * (keys - 1)]",
        "flat[..., rows : rows + rows * (keys - 1)]",
        "model/architectures/test_transformer_xl.py::test_the_shift_equals_a_slow_loop",
    ),
    "a character reads the next one": (
        "model/architectures/transformer_xl.py",
        ".triu(keys - rows + 1)",
        ".triu(keys - rows + 2)",
        "model/architectures/test_transformer_xl.py::test_a_prediction_ignores_the_future",
    ),
    "a memory that is not saved": (
        "model/architectures/transformer_xl.py",
        "torch.zeros(layers, streams, memory, width))",
        "torch.zeros(layers, streams, memory, width), persistent=False)",
        "model/architectures/test_transformer_xl.py::test_resuming_is_bit_identical",
    ),
    "a stream begins with an old memory": (
        "model/architectures/transformer_xl.py",
        "self.memory - min(before, self.memory)",
        "self.memory - self.memory",
        "model/architectures/test_transformer_xl.py::test_a_stream_begins_without_memory_in_every_epoch",
    ),
    "streams that skip a character": (
        "model/batches/streams.py",
        "first[row] = text[min(start, len(text)) - 1]",
        "first[row] = text[min(start, len(text)) - 2]",
        "model/batches/test_streams.py::test_in_order_every_character_comes_once",
    ),
    "nats for bits": (
        "model/probes/quality/bits_per_character.py",
        ".cpu().numpy() / math.log(2)",
        ".cpu().numpy()",
        "model/probes/test_stream_probes.py::test_bits_are_those_of_every_character_once",
    ),
    "a part's keys left out": (
        "model/normalizers/topk.py",
        "np.sort(part, axis=-1)[..., -k:]",
        "np.sort(part, axis=-1)[..., -1:]",
        "model/normalizers/test_topk_of_many.py::test_the_kth_largest_is_that_of_the_sorted_row",
    ),
    "a prefix with its junk": (
        "workflow/datasets/enwik8.py",
        "path.read_bytes()[:USABLE]",
        "path.read_bytes()",
        "datasets/test_enwik8.py::test_the_text_is_cut_in_its_order_and_comes_back",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_fault_is_caught(fault: str, tmp_path: Path) -> None:
    file, right, wrong, test = FAULTS[fault]
    for folder in ("model", "workflow", "tests", "benchmarks"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    source = (tmp_path / file).read_text()
    assert source.count(right) == 1, f"{file} has changed: plant the fault '{fault}' anew"
    (tmp_path / file).write_text(source.replace(right, wrong))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"tests/{test}"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stdout[-2000:] + done.stderr[-2000:]
