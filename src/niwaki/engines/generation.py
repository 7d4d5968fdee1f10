"""Text generation: the search settings of a saved model, and its decoding steps in ONNX Runtime."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from niwaki.answers._beam_search import DecoderState, SearchSettings
from niwaki.answers._capabilities import GeneratesTokens
from niwaki.core.errors import InputError
from niwaki.engines.onnx_session import input_names
from niwaki.engines.runtime import Arrays
from niwaki.models.config_rules import CONFIG, read
from niwaki.models.published_answer import open_answer_type, with_published_answer

if TYPE_CHECKING:
    from onnxruntime import InferenceSession


def search_of(folder: Path) -> SearchSettings:
    where = folder / CONFIG
    config = with_published_answer(folder, read(folder))
    answer_type = open_answer_type(folder, config, [])
    if not isinstance(answer_type, GeneratesTokens):
        raise InputError(
            f"{where}: the network generates text, so niwaki_answer must be of kind 'text' or 'reconstruction'"
        )
    return answer_type.search


class GraphSteps(DecoderState):
    """A batch of texts: the encoder's graph runs once, the decoder's graph once for each generated token."""

    def __init__(
        self, encoder: "InferenceSession", decoder: "InferenceSession", arrays: Arrays, hypotheses: int
    ) -> None:
        memory = encoder.run(None, {name: arrays[name] for name in input_names(encoder)})
        cached = [entry for entry in decoder.get_inputs() if entry.name.startswith("past_key_values.")]
        rows = len(arrays["attention_mask"]) * hypotheses
        sizes = [entry.shape for entry in cached[len(memory) :]]
        past = [np.zeros((rows, size[1], 0, size[3]), dtype=np.float32) for size in sizes]
        super().__init__(arrays["attention_mask"], memory, past, hypotheses)
        self.decoder, self.names = decoder, [entry.name for entry in cached]

    def __call__(self, tokens: np.ndarray, parents: np.ndarray, texts: np.ndarray) -> np.ndarray:
        self.reorder(parents, texts)
        inputs = dict(zip(self.names, [*self.memory, *self.past], strict=True))
        inputs |= {"input_ids": tokens, "cache_position": np.array([self.place]), "encoder_attention_mask": self.mask}
        log_probs, *self.past = self.decoder.run(None, inputs)
        self.place += 1
        return np.asarray(log_probs)
