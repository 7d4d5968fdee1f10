"""How a model in a folder writes: the search that its kind of answer says, and its steps in ONNX Runtime."""

from pathlib import Path
from typing import Any

import numpy as np

from niwaki.answers._choose import kind_of
from niwaki.answers._search import Kept, Search
from niwaki.answers.text import Text
from niwaki.core.errors import Refused
from niwaki.models.config_rules import CONFIG, read


def search_of(folder: Path) -> Search:
    where = folder / CONFIG
    kind = kind_of(read(folder), str(where))
    if not isinstance(kind, Text):
        raise Refused(f"{where}: the network writes, and its answers are not read as texts (niwaki_answer)")
    return kind.opened(folder, []).search


class GraphSteps(Kept):
    """Some texts that are read once; then a token further at each call. Sessions of two graphs: one reads, one writes on."""

    def __init__(self, encoder: Any, decoder: Any, given: dict[str, np.ndarray], hypotheses: int) -> None:
        memory = encoder.run(None, {entry.name: given[entry.name] for entry in encoder.get_inputs()})
        pairs = decoder.get_inputs()[len(("ids", "place", "mask")) :]
        sizes = [entry.shape for entry in pairs[len(memory) :]]
        rows = len(given["mask"]) * hypotheses
        past = [np.zeros((rows, size[1], 0, size[3]), dtype=np.float32) for size in sizes]
        super().__init__(given["mask"], memory, past, hypotheses)
        self.decoder, self.names = decoder, [entry.name for entry in pairs]

    def __call__(self, tokens: np.ndarray, parents: np.ndarray, texts: np.ndarray) -> np.ndarray:
        self.follow(parents, texts)
        pairs = dict(zip(self.names, [*self.memory, *self.past], strict=True))
        given = {"ids": tokens, "place": np.array([self.place]), "mask": self.mask, **pairs}
        scores, *self.past = self.decoder.run(None, given)
        self.place += 1
        return scores
