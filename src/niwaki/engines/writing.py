"""How a model in a folder writes: the search that its kind of answer says, and its steps in ONNX Runtime."""

from pathlib import Path
from typing import Any

import numpy as np

from niwaki.answers._choose import kind_of
from niwaki.answers._search import Search
from niwaki.answers.text import Text
from niwaki.core import strict_json
from niwaki.core.errors import Refused
from niwaki.models.config_rules import checked

MOST_CONFIG_BYTES = 8 << 20


def search_of(folder: Path) -> Search:
    where = folder / "config.json"
    kind = kind_of(checked(strict_json.read(where, MOST_CONFIG_BYTES), str(where)), str(where))
    if not isinstance(kind, Text):
        raise Refused(f"{where}: the network writes, and its answers are not read as texts (niwaki_answer)")
    return kind.opened(folder, []).search


class GraphSteps:
    """Some texts that are read once; then a token further at each call. Sessions of two graphs: one reads, one writes on."""

    def __init__(self, encoder: Any, decoder: Any, given: dict[str, np.ndarray], hypotheses: int) -> None:
        self.decoder, self.mask, self.hypotheses, self.place = decoder, given["mask"], hypotheses, 0
        self.memory = encoder.run(None, {entry.name: given[entry.name] for entry in encoder.get_inputs()})
        self.names = [entry.name for entry in decoder.get_inputs()][3:]
        sizes = [entry.shape for entry in decoder.get_inputs()][3 + len(self.memory) :]
        rows = len(self.mask) * hypotheses
        self.past = [np.zeros((rows, size[1], 0, size[3]), dtype=np.float32) for size in sizes]

    def __call__(self, tokens: np.ndarray, parents: np.ndarray, texts: np.ndarray) -> np.ndarray:
        if len(texts) < len(self.mask):
            self.mask = self.mask[texts]
            self.memory = [part[texts] for part in self.memory]
        rows = (texts[:, None] * self.hypotheses + parents).ravel()
        if self.place and not np.array_equal(rows, np.arange(len(self.past[0]))):
            self.past = [part[rows] for part in self.past]
        pairs = dict(zip(self.names, [*self.memory, *self.past], strict=True))
        given = {"ids": tokens, "place": np.array([self.place]), "mask": self.mask, **pairs}
        scores, *self.past = self.decoder.run(None, given)
        self.place += 1
        return scores
