"""Opens all heads of a model folder on one encoder."""

import re
from collections.abc import Sequence
from pathlib import Path

from niwaki.core.errors import InputError
from niwaki.core.head_folder import HEADS, is_head_folder
from niwaki.core.model_integrity import display_name, warn_unverified
from niwaki.engines.encoder_cache import EncoderCache
from niwaki.engines.heads import ALL, Heads
from niwaki.run.model_path import model_path


def load_heads(
    path: str | Path,
    heads: str | Sequence[str] = ALL,
    threads: int | None = None,
    cache: EncoderCache | None = None,
    stage: str = "",
) -> Heads:
    """Opens heads of a model folder, in torch. Each text is encoded once for all heads without a delta, and not again while its encoder
    outputs are in the cache: 256 MB of memory, unless an `EncoderCache` states other sizes or a folder. `main` is the folder's own head.

    >>> niwaki.load_heads("encoder").predict(["a film to see twice"])
    """
    folder = model_path(path, stage)
    if is_head_folder(folder):
        raise InputError(f"{folder}: is one head; give the folder that contains {HEADS}")
    found = Heads(folder, heads, threads, cache)
    warn_unverified(folder)
    return found


def head_name(model: str | Path) -> str:
    """A name for the head of a model: that of its folder or run, with the characters that names may have."""
    return re.sub(r"[^a-z0-9_-]+", "-", display_name(Path(model)).lower()).strip("-_")[:64]
