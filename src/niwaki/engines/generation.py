"""How a model in a folder writes: the search that its kind of answer says, and its steps in ONNX Runtime."""

from pathlib import Path
from typing import Any

import numpy as np

from niwaki.answers._beam_search import DecoderState, SearchSettings
from niwaki.answers._from_config import answer_type_of
from niwaki.answers.text import Text
from niwaki.core.errors import InputError
from niwaki.models.config_rules import CONFIG, read


def search_of(folder: Path) -> SearchSettings:
    where = folder / CONFIG
    kind = answer_type_of(read(folder), str(where))
    if not isinstance(kind, Text):
        raise InputError(f"{where}: the network writes, and its answers are not read as texts (niwaki_answer)")
    return kind.load_files(folder, []).search


class GraphSteps(DecoderState):
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
        self.reorder(parents, texts)
        pairs = dict(zip(self.names, [*self.memory, *self.past], strict=True))
        given = {"ids": tokens, "place": np.array([self.place]), "mask": self.mask, **pairs}
        scores, *self.past = self.decoder.run(None, given)
        self.place += 1
        return scores
