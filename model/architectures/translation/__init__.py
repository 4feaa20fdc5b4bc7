"""Encoder-decoders, their decoding, and beam search.

`translator` is what they have in common.
"""
