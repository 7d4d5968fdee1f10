"""A teacher: a frozen model that answers for the rows of a batch, in its own tokens."""

from pathlib import Path

import numpy as np
import torch
from accelerate import PartialState
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from niwaki.core.files import committed, fault_in
from niwaki.core.log import say
from niwaki.models.forward import Batch, Outputs, forward
from niwaki.models.model import Model
from niwaki.train.feed import Feed
from niwaki.train.infer import logits_of
from niwaki.train.precision import autocast

TABLE = "logits.safetensors"


class Teacher:
    """Where only logits are wanted they are computed once for all rows, in an order that does not depend on training, and
    kept in `cache` for resumed runs and later stages. Where layers are wanted, the teacher runs beside the student."""

    def __init__(self, model: Model, feed: Feed, needs: frozenset[str], precision: str, cache: Path) -> None:
        self.model = model
        self.feed = feed
        self.needs = needs
        self.precision = precision
        self.anatomy = model.anatomy
        model.network.to(feed.device).eval().requires_grad_(False)
        self.table = None if needs else logits_table(model, feed, precision, cache)
        self._last: tuple[torch.Tensor, Outputs] | None = None

    @torch.no_grad()
    def __call__(self, batch: Batch) -> Outputs:
        if self.table is not None:
            return Outputs(self._from_table(batch.rows.numpy()).to(self.feed.device))
        if self._last is None or self._last[0] is not batch.rows:  # several methods ask about one batch
            with autocast(self.precision, self.feed.device):
                own = self.feed.batch(batch.rows.numpy())
                self._last = (batch.rows, forward(self.model.network, self.anatomy, own, self.needs))
        return self._last[1]

    def _from_table(self, rows: np.ndarray) -> torch.Tensor:
        assert self.table is not None
        sequences = self.feed.features.rows.sequences(rows)
        if self.anatomy.per_token:
            return self.table[torch.from_numpy(self.feed.features.rows.ids.places(sequences)[0])]
        return self.table[torch.from_numpy(sequences)]


def logits_table(model: Model, feed: Feed, precision: str, cache: Path) -> torch.Tensor:
    """As `logits_of` gives it: read from the cache where it is sound, else computed and put there."""
    with PartialState(cpu=feed.device.type == "cpu").main_process_first():  # others then find it there
        fault = fault_in_table(cache)
        if fault is not None:
            if cache.exists():
                say(f"{fault}; the teacher is asked again")
            table = torch.from_numpy(logits_of(model, feed, precision))
            with committed(cache) as folder:
                save_file({"logits": table}, folder / TABLE, metadata={"name": cache.name})
        return load_file(cache / TABLE)["logits"]


def fault_in_table(cache: Path) -> str | None:
    """Why answers kept cannot be used: they are damaged, or are those to other questions under this name."""
    fault = fault_in(cache)
    if fault is not None:
        return fault
    with safe_open(cache / TABLE, framework="pt") as file:
        said = (file.metadata() or {}).get("name", cache.name)
    return None if said == cache.name else f"{cache}: holds the answers of {said}"
