"""What the families of networks without attention share."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

from torch import Tensor

from niwaki.models.anatomy import Anatomy
from niwaki.models.block import Block
from niwaki.models.encoder import HIDDEN, Record
from niwaki.models.layer import Layer


class AttentionFreeAnatomy(Anatomy):
    """A network of `models/networks`: it has no layers, and runs itself as lean as it trains."""

    in_transformers = False
    body = "body"
    other_tables: ClassVar[tuple[str, ...]] = ()
    uses_token_types = False  # texts are told apart by their separator
    special_token_keys = ("pad_token_id", "sep_token_id")
    body_matrices: ClassVar[str] = ""  # the list, relative to the body, of what is packed

    @property
    def layers(self) -> list[Layer]:
        return []

    @property
    def hidden_size(self) -> int:
        return int(self.tokens.embedding_dim)

    @property
    def head_final(self) -> str:
        return "classifier"

    @property
    def head_square(self) -> tuple[str, ...]:
        return ()

    def whole_matrices(self) -> Iterator[str]:
        if self.body_matrices:
            for name, _ in self.trunk.get_submodule(self.body_matrices).named_children():
                yield f"{self.body}.{self.body_matrices}.{name}"
        for number in range(len(self.network.hidden)):
            yield f"hidden.{number}"

    @property
    def blocks(self) -> list[Block]:
        """The hidden layers before the logits."""
        count = len(self.network.hidden)
        readers = [*(f"hidden.{number}" for number in range(1, count)), "classifier"]
        return [Block(self.network, f"hidden.{number}", reader) for number, reader in enumerate(readers)]

    def update_config_ffn_size(self) -> None:
        counts = {layer.out_features for layer in self.network.hidden}
        if len(counts) == 1:
            self.network.config.hidden_size = counts.pop()

    def embed(self, ids: Tensor, types: Tensor | None) -> Tensor:
        return self.tokens(ids)

    def run(self, inputs: Mapping[str, Tensor], record: Record) -> Tensor:
        ids, mask = inputs["input_ids"], inputs["attention_mask"]
        states = self.network.states(ids, mask)
        record.get(HIDDEN, []).extend(states)
        return self.network.answer(states[-1], ids, mask)

    def logits(self, ids: Tensor, mask: Tensor, types: Tensor | None) -> Tensor:
        return self.network.logits(ids, mask)
