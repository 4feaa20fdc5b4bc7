"""Errors that a person reads: one sentence saying what is wrong, where, and the way out."""

from workflow.errors import Mistake

FETCH_AGAIN = "delete the file and fetch it again (one got by hand: replace it under data/manual)"


class DataError(Mistake):
    """A file or a recipe of a dataset that can't be used; the message is one whole sentence."""


class RecipeError(DataError):
    """A dataset's recipe with an unknown or impossible option."""
