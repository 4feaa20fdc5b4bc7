"""The random numbers and the corpus that tests of the model have."""

from tests.model.conftest import copies, same_numbers

__all__ = ["copies", "same_numbers"]
