"""The random numbers that tests of the model have."""

from tests.model.conftest import same_numbers

__all__ = ["same_numbers"]
