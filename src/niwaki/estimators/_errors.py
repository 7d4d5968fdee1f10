"""Rejected input as scikit-learn expects it: a ValueError."""

import contextlib
import re
from collections.abc import Iterator

from niwaki.core.errors import InputError, UsageError


class EstimatorInputError(InputError, ValueError):
    """Input that an estimator rejects, or a parameter with an impossible value."""


@contextlib.contextmanager
def value_errors(**names: str) -> Iterator[None]:
    """Raises rejected input as ValueError. `names` replace words at the start of messages: `data: …` is `X: …` here."""
    try:
        yield
    except (InputError, UsageError) as error:
        faults = error.faults if isinstance(error, InputError) else [str(error)]
        raise EstimatorInputError([_renamed(fault, names) for fault in faults]) from None


def _renamed(fault: str, names: dict[str, str]) -> str:
    """`texts.3: …` has the word `texts`."""
    word = re.split(r"[.:]", fault, maxsplit=1)[0]
    return names[word] + fault[len(word) :] if word in names else fault
