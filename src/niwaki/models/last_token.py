"""XLNet's head for whole texts reads the last place of a batch, because its tokenizer pads on the left. Batches are padded on the right here:
the last token of each text is read."""

from torch import Tensor, nn
from transformers.models.xlnet.modeling_xlnet import XLNetSequenceSummary

from niwaki.models.family import Network
from niwaki.models.pooling import pool


class LastToken(XLNetSequenceSummary):
    mask: Tensor | None = None  # of the batch, from the network's arguments

    def forward(self, hidden: Tensor, cls_index: Tensor | None = None) -> Tensor:  # type: ignore[override]
        mask = hidden.new_ones(hidden.shape[:2]).long() if self.mask is None else self.mask
        return super().forward(pool(hidden, mask, "last")[:, None])  # type: ignore[arg-type]


def read_last_token(network: Network) -> None:
    """For transformers' own forward pass; `models/forward.py` pools by itself."""
    summary = getattr(network, "sequence_summary", None)
    if type(summary) is XLNetSequenceSummary:
        summary.__class__ = LastToken
        network.register_forward_pre_hook(_note_mask, with_kwargs=True)


def _note_mask(network: nn.Module, args: tuple, kwargs: dict) -> None:
    network.get_submodule("sequence_summary").mask = kwargs.get("attention_mask")  # type: ignore[assignment]
