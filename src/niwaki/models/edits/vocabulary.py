"""Keeps some rows of the token table. The tokenizer is trimmed with it (see `niwaki.models.tokens`)."""

from niwaki.core.errors import Refused
from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.edit import Edit, chosen
from niwaki.models.slicing import cut_table


class Vocabulary(Edit):
    keep: list[int] | int  # which token ids, or how many of the first; the old id keep[i] becomes i

    def apply(self, network: Network, anatomy: Anatomy) -> None:
        path = next(anatomy.tables())
        table = network.get_submodule(path)
        keep = chosen(self.keep, table.num_embeddings, "vocabulary")
        renumber_pad(network, anatomy, keep)
        network.set_submodule(path, cut_table(table, rows=keep))
        network.config.vocab_size = len(keep)

    def recorded(self) -> "Vocabulary":
        return Vocabulary(keep=self.keep if isinstance(self.keep, int) else len(self.keep))


def renumber_pad(network: Network, anatomy: Anatomy, keep: list[int]) -> None:
    """Families that count positions from the padding mark need it where it was."""
    config = network.config
    pad = config.pad_token_id
    place = keep.index(int(pad)) if pad in keep else None
    if anatomy.max_positions_offset and place != pad:
        raise Refused(f"vocabulary: this family counts positions from its padding mark, so id {pad} must stay id {pad}")
    if place is not None:
        config.pad_token_id = place
