"""The states of words and sentences at every layer of a model."""

from collections.abc import Sequence

import numpy as np
import torch

from niwaki.answers._answer_type import EncodedInputs
from niwaki.answers.tags import Tags
from niwaki.core.log import progress
from niwaki.data.batching import sorted_batches
from niwaki.models.features import Features
from niwaki.models.forward import Batch, forward
from niwaki.models.model import Model
from niwaki.models.record import HIDDEN
from niwaki.train.collator import Collator

ROWS, TOKENS = 64, 8192  # of a batch


class States:
    """For each layer the states of all words (words, size), in half precision; words of one sentence follow each other. A word is read at its
    first token; one without a token has zeros."""

    def __init__(self, layers: list[np.ndarray], counts: Sequence[int]) -> None:
        self.layers = layers
        self.starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)

    def features(self, layer: int, sentence: np.ndarray, places: Sequence[tuple[int, ...]]) -> np.ndarray:
        """(examples, size): of a word its state, of a pair both and their product, of a sentence the mean."""
        found, width = self.layers[layer], len(places[0])
        if width == 0:
            sums = np.stack(
                [found[self.starts[one] : self.starts[one + 1]].mean(axis=0, dtype=np.float32) for one in sentence]
            )
            return sums.astype(np.float32)
        words = [
            found[self.starts[sentence] + [each[side] for each in places]].astype(np.float32) for side in range(width)
        ]
        return words[0] if width == 1 else np.concatenate([*words, words[0] * words[1]], axis=1)


@torch.no_grad()
def states_of(model: Model, sentences: Sequence[Sequence[str]], label: str) -> States:
    """Runs all sentences. Those that are longer than the model reads are cut between words."""
    model.network.eval()
    encoded = Tags().encode(
        [list(words) for words in sentences], model.tokenizer.backend_tokenizer, model.anatomy.max_tokens
    )
    counts = [len(words) for words in sentences]
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    collator, nothing = Collator(Features(encoded, np.zeros(0)), model, torch.device("cpu")), torch.zeros(0)
    layers: list[np.ndarray] = []
    done = 0
    with progress(label, len(encoded.ids)) as update:
        for rows in sorted_batches(encoded.ids.lengths, ROWS, TOKENS):
            hidden = forward(model.anatomy, Batch(collator.inputs(rows), nothing, nothing), frozenset({HIDDEN})).hidden
            if not layers:
                layers = [np.zeros((starts[-1], hidden[depth].shape[-1]), np.float16) for depth in range(len(hidden))]
            for depth, layer in enumerate(layers):
                _store(layer, hidden[depth].float().numpy(), encoded, rows, starts)
            done += len(rows)
            update(done, "")
    return States(layers, counts)


def _store(layer: np.ndarray, hidden: np.ndarray, encoded: EncodedInputs, rows: np.ndarray, starts: np.ndarray) -> None:
    """Of each row (tokens, size) the states at the first tokens of its words."""
    for row, states in zip(rows, hidden, strict=True):
        first, places = encoded.metadata[row]
        real = np.flatnonzero(places >= 0)
        layer[starts[encoded.input_index[row]] + first + real] = states[places[real]]
