"""Mistakes of a person, each said in one sentence (standard library only)."""

import difflib
import errno
from collections.abc import Iterable
from pathlib import Path

FETCH_AGAIN = "delete the file and fetch it again (one got by hand: replace it under data/manual)"
CORRECT = (
    "correct the file where it comes from (data/manual or the mirror), as fetching it again gives "
    "the same one"
)
"""What helps where a whole file has a wrong line."""

CODE_ERRORS = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, NameError),
    *(NotImplementedError, SystemExit, TypeError),
)
"""What only the code of a run raises, so that another attempt ends in the same way.

Other RuntimeErrors are not among them: torch has them for wrong shapes, and also for a GPU that is
lost and for processes that no longer hear each other.
"""

MANY = 40
"""Names that one can still read through."""


class UserError(ValueError):
    """Something that a person can mend; the message is one sentence for them."""


class InputError(UserError):
    """Something that a person wrote cannot be used."""


def nearest(name: str, allowed: Iterable[str], most: int = 1) -> str:
    """Return `; did you mean "x" or "y"?` for the names nearest to `name`, else the empty text.

    Those that have it as whole words, as `explanation_ranks` has ranks, are nearer than any other.
    """
    names = [str(one) for one in allowed]
    parts = [one for one in names if f"_{name}_".lower() in f"_{one}_".lower()]
    close = sorted(parts, key=len)[:most]
    close = close or difflib.get_close_matches(str(name), names, n=most, cutoff=0.55)
    close = close or sorted((one for one in names if _short(str(name), one)), key=len)[-1:]
    *others, last = [f'"{one}"' for one in close] or [""]
    return f"; did you mean {' or '.join(filter(None, (', '.join(others), last)))}?" if last else ""


def _short(one: str, other: str) -> bool:
    """Whether one of two names has the letters of the other in order, from the first, as lr has."""
    short, long = sorted((one.lower(), other.lower()), key=len)
    letters = iter(long)
    return len(short) > 1 and short[0] == long[0] and all(letter in letters for letter in short)


def unknown(
    where: str, kind: str, name: str, allowed: Iterable[str], listed: str = ""
) -> InputError:
    """Return the error for a name that is not one of `allowed`: of many the three nearest.

    `listed` is the page that lists them, where there may be many.
    """
    names = sorted(allowed)
    many = len(names) > MANY
    near = nearest(name, names, 3 if many else 1)
    known = ", ".join(names) if names else "none"
    if many:
        known = f"{len(names)} names" + (f", listed in {listed}" if listed else "")
    at = f"{where}: " if where else ""
    return InputError(f'{at}unknown {kind} "{name}" (known: {known}){near}')


class DataError(UserError):
    """A file or a recipe of a dataset that can't be used; the message is one whole sentence."""


def check_links(path: Path) -> None:
    """Raise DataError for links that lead in a circle, where a file or folder of a person belongs.

    To `Path.is_file` there is nothing.
    """
    try:
        path.stat()
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise DataError(
                f"{path}: this link leads back to itself (a loop of links); put the file in its "
                f"place."
            ) from None


class RecipeError(DataError):
    """A dataset's recipe with an unknown or impossible option."""


class ReportingError(InputError):
    """A file or a definition that can't be used; the message is one sentence with the way out."""
