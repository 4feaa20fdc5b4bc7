"""From words to arrays: sub-words, vocabularies, manifests.

They import io.
"""
