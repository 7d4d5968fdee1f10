"""transformers draws a bar for every model that it loads, also under --quiet and where stderr is a file."""

import contextlib
from collections.abc import Iterator


@contextlib.contextmanager
def without_progress_bars() -> Iterator[None]:
    """Afterwards it draws them again where it did before: other code of the process may want them."""
    from transformers.utils import logging

    drawn = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if drawn:
            logging.enable_progress_bar()


@contextlib.contextmanager
def without_load_warnings() -> Iterator[None]:
    """Nor does it report which tensors a file lacks, which a check expects: a new head has none."""
    from transformers.utils import logging

    before = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(before)
