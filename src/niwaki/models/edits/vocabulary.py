"""Keeps some rows of the token table. The tokenizer is trimmed with it (see `niwaki.models.tokens`)."""

from torch import nn

from niwaki.models.anatomy import Anatomy
from niwaki.models.edit import Edit, chosen
from niwaki.models.slicing import cut_table


class Vocabulary(Edit):
    keep: list[int] | int  # which token ids, or how many of the first; the old id keep[i] becomes i

    def apply(self, network: nn.Module, anatomy: Anatomy) -> None:
        path = next(anatomy.tables())
        table = network.get_submodule(path)
        keep = chosen(self.keep, table.num_embeddings, "vocabulary")  # type: ignore[arg-type]
        network.set_submodule(path, cut_table(table, rows=keep))
        renumber_pad(network, keep)
        network.config.vocab_size = len(keep)  # type: ignore[union-attr]

    def recorded(self) -> "Vocabulary":
        return Vocabulary(keep=self.keep if isinstance(self.keep, int) else len(self.keep))


def renumber_pad(network: nn.Module, keep: list[int]) -> None:
    """Families that count positions from the padding mark need it where it was."""
    config = network.config
    pad = config.pad_token_id  # type: ignore[union-attr]
    if pad is not None and pad in keep:
        config.pad_token_id = keep.index(int(pad))  # type: ignore[union-attr, arg-type]
