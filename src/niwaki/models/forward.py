"""One batch through one network, with the activations that the caller names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from niwaki.models.anatomy import Anatomy

NO_LABEL = -100  # target of a row or token without a label; cross-entropy in torch ignores it by default
Depths = Sequence[Tensor] | Mapping[int, Tensor]  # by depth: all of a student's, those named of a teacher's


@dataclass(frozen=True)
class Batch:
    """`inputs` are the network's arguments; `rows` the places of the examples in the data (several sequences may belong to one)."""

    inputs: dict[str, Tensor]
    targets: Tensor
    rows: Tensor

    @property
    def mask(self) -> Tensor:
        return self.inputs["attention_mask"]

    @property
    def written(self) -> Tensor:
        """Of what a network learns to write, (batch, tokens): 1 where there is a token."""
        return (self.targets >= 0).to(self.mask.dtype)


@dataclass(frozen=True)
class Outputs:
    """What came out. `hidden[0]` is the embedding's output, `hidden[d]` that of the d-th layer run; the rest counts layers from 0."""

    logits: Tensor  # (batch, labels), or (batch, tokens, labels) from heads per token
    hidden: Depths = ()  # each (batch, tokens, width)
    scores: Depths = ()  # attention before softmax, each (batch, heads, tokens, tokens)
    queries: Depths = ()  # each (batch, tokens, heads × head width), as keys and values
    keys: Depths = ()
    values: Depths = ()
    decoder_hidden: Depths = ()  # of a decoder, counted as `hidden`, each (batch, generated tokens, width)


def forward(anatomy: Anatomy, batch: Batch, needs: frozenset[str] = frozenset()) -> Outputs:
    """`needs` are names of `models/encoder.py`: HIDDEN, SCORES, STATES, DECODER_HIDDEN."""
    record: dict[str, list[Tensor]] = {name: [] for name in needs}
    logits = anatomy.run(batch.inputs, record)
    return Outputs(logits, **{name: tuple(found) for name, found in record.items()})


def real_inputs(anatomy: Anatomy, path: str, x: Tensor, batch: Batch) -> Tensor:
    """Of what the matrix at a path was given in a batch, the real tokens' (tokens, in); of what is no row of tokens, all."""
    real = anatomy.real_tokens(path, batch.mask, batch.written) if anatomy.is_seq2seq else batch.mask
    return x[real.bool()] if x.ndim == 3 and x.shape[:2] == real.shape else x.flatten(0, -2)
