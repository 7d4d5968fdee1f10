"""What the families of networks without attention share (`models/networks`): token vectors, a body, hidden layers, logits."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from niwaki.models.family import Family, HeadPaths, InputPaths, Network

if TYPE_CHECKING:
    from niwaki.models.block import Block

INPUTS = InputPaths(other_tables=(), norms=(), uses_token_types=False, part="token_vectors")


class AttentionFree(Family):
    """Its network runs itself. A separator token marks where the second text of a pair begins."""

    in_transformers = False
    body = "body"
    inputs = INPUTS
    head = HeadPaths(span="classifier")
    special_token_keys = ("pad_token_id", "sep_token_id")
    body_matrices: ClassVar[str] = ""  # the list, relative to the body, of what is packed

    @classmethod
    def matrices(cls, network: Network) -> Iterator[str]:
        if cls.body_matrices:
            for name, _ in network.get_submodule(cls.body).get_submodule(cls.body_matrices).named_children():
                yield f"{cls.body}.{cls.body_matrices}.{name}"
        for number in range(len(network.hidden)):
            yield f"hidden.{number}"

    @classmethod
    def blocks(cls, network: Network) -> "list[Block]":
        """The hidden layers before the logits."""
        from niwaki.models.block import Block

        count = len(network.hidden)
        readers = [*(f"hidden.{number}" for number in range(1, count)), "classifier"][:count]
        return [Block(network, f"hidden.{number}", reader, key="hidden_size") for number, reader in enumerate(readers)]
