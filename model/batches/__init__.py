"""From encoded data to batches: the corpus, samplers, padding, packing, segments.

They import layers.
"""
