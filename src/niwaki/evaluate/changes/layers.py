"""What the layers of two models have in common: similarity of their states for the same tokens, divergence of their attention.

Runs both networks in torch on a few texts, one by one, through the forward pass that records activations.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import torch

from niwaki.answers._answer_type import EncodedInputs, softmax
from niwaki.core.errors import InputError, first_line
from niwaki.core.json_types import Json
from niwaki.evaluate.changes.answered import Answered
from niwaki.evaluate.changes.divergence import jensen_shannon
from niwaki.evaluate.changes.similarity import cka_matrix, matched_depths
from niwaki.models.forward import Batch, Depths, Outputs, forward
from niwaki.models.model import Model, load_folder
from niwaki.models.pairs import reads_token_types
from niwaki.models.record import HIDDEN, SCORES
from niwaki.train.infer import evaluating

TEXTS, TOKENS, LEAST_TOKENS = 64, 4096, 64


@dataclass(frozen=True)
class States:
    """`hidden` of each depth (tokens, width); `attention` of each text and layer (heads, tokens, tokens)."""

    hidden: list[np.ndarray]
    attention: list[list[np.ndarray]]
    no_attention: str  # why there is none, or ""


def layer_changes(first: Answered, second: Answered) -> Json:
    """`similarity` (matrix by depth), `attention` (by layer and head), and for each a reason if it is missing."""
    try:
        models = [network_of(one) for one in (first, second)]
        chosen = common_sequences(first.encoded, second.encoded)
        states = [states_of(model, one.encoded, chosen) for model, one in zip(models, (first, second), strict=True)]
    except InputError as error:
        reason = first_line(error)
        return {"texts": 0, "similarity": None, "attention": None, "missing": [reason]}
    found = attention_changes(*states)
    reasons = [reason for reason in dict.fromkeys(one.no_attention for one in states) if reason]
    return {
        "texts": len(chosen),
        "similarity": cka_matrix(states[0].hidden, states[1].hidden).tolist(),
        "attention": found,
        "missing": reasons if found is None else [],
    }


def network_of(answered: Answered) -> Model:
    model = load_folder(answered.predictor.folder)
    if model.anatomy.is_seq2seq:
        raise InputError(f"{answered.name}: generates text, and layers of encoder-decoders are not compared")
    return model


def common_sequences(first: EncodedInputs, second: EncodedInputs) -> np.ndarray:
    """The first sequences that have as many tokens in both, up to a number of texts and tokens."""
    if len(first.lengths) != len(second.lengths):
        raise InputError("layers: the models divide the texts into different numbers of sequences")
    same = np.flatnonzero(first.lengths == second.lengths)[:TEXTS]
    some = same[: max(1, int((np.cumsum(first.lengths[same]) <= TOKENS).sum()))]
    if first.lengths[some].sum() < LEAST_TOKENS:
        raise InputError(f"layers: fewer than {LEAST_TOKENS} tokens are in texts that both models divide alike")
    return some


def states_of(model: Model, encoded: EncodedInputs, sequences: np.ndarray) -> States:
    reason, needs = "", frozenset({HIDDEN, SCORES})
    try:
        found = [*outputs_of(model, encoded, sequences, needs)]
    except InputError as error:  # a mixer without attention, or layers that shorten texts
        reason = first_line(error)
        found = [*outputs_of(model, encoded, sequences, frozenset({HIDDEN}))]
    depths = zip(*(arrays(one.hidden) for one in found), strict=True)
    attention = [[softmax(layer) for layer in arrays(one.scores)] for one in found]
    return States([np.concatenate(states) for states in depths], attention, reason or _without(attention))


def arrays(depths: Depths) -> list[np.ndarray]:
    """The activations of one text by depth, without the batch."""
    tensors = depths.values() if isinstance(depths, Mapping) else depths
    return [tensor[0].float().numpy() for tensor in tensors]


def _without(attention: list[list[np.ndarray]]) -> str:
    return "" if attention and attention[0] else "a network without attention has none to compare"


@torch.no_grad()
def outputs_of(model: Model, encoded: EncodedInputs, sequences: np.ndarray, needs: frozenset[str]) -> Iterator[Outputs]:
    """Of one sequence at a time, so that nothing is padded."""
    types, nothing = reads_token_types(model.anatomy), torch.zeros(0)
    with evaluating(model):
        for sequence in sequences:
            arrays = encoded.padded(np.array([sequence]), pad_id=0)
            inputs = {name: torch.from_numpy(one) for name, one in arrays.items() if types or name != "token_type_ids"}
            yield forward(model.anatomy, Batch(inputs, nothing, nothing), needs)


def attention_changes(first: States, second: States) -> Json | None:
    """Mean Jensen–Shannon divergence by layer of the second model, and by head where both have as many heads."""
    if first.no_attention or second.no_attention:
        return None
    matched = matched_depths(len(first.attention[0]), len(second.attention[0]))
    pairs = [(before, number) for number, before in enumerate(matched)]
    layers = [
        np.mean(
            [divergence(a[before], b[number]) for a, b in zip(first.attention, second.attention, strict=True)], axis=0
        )
        for before, number in pairs
    ]
    return {"matched": matched, "layers": [layer.tolist() for layer in layers]}


def divergence(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """(heads,) mean over the tokens of one text; (1,) of the heads' mean if their numbers differ."""
    if len(first) != len(second):
        first, second = first.mean(axis=0, keepdims=True), second.mean(axis=0, keepdims=True)
    return np.asarray(jensen_shannon(first, second).mean(axis=-1))
