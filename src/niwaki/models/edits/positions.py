"""Lets a network read longer texts."""

import torch
from pydantic import Field
from torch import Tensor, nn

from niwaki.core.errors import InputError
from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.edit import Edit
from niwaki.models.relative_positions import set_distances
from niwaki.models.slicing import cut_table
from niwaki.models.value_rules import MOST_POSITIONS


class Positions(Edit):
    """Vectors of positions are copied, over and over, as in Longformer. Rotary and relative positions have none: the config states the new
    length, and distances keep their vectors."""

    tokens: int = Field(ge=8, le=MOST_POSITIONS)  # that the network can read

    def apply(self, network: Network, anatomy: Anatomy) -> None:
        anatomy.require_layers("extend_positions")
        self._check(anatomy)
        config, inputs = network.config, anatomy.inputs
        before, skipped = int(config.max_position_embeddings), anatomy.family.inputs.skipped_positions
        for path in inputs.small_tables:
            table = network.get_submodule(path)
            if int(getattr(table, "num_embeddings", 0)) == before and not self._is_of_distances(anatomy, path):
                rows = [*range(skipped), *(skipped + place % (before - skipped) for place in range(self.tokens))]
                network.set_submodule(path, cut_table(table, rows=rows))
                extend_buffers(network.get_submodule(path.rpartition(".")[0]), before, self.tokens + skipped)
        for path, table in list(network.named_modules()):
            if isinstance(table, nn.Embedding) and hasattr(table, "create_weight") and table.num_embeddings == before:
                network.set_submodule(path, sines(table, self.tokens + skipped))
        assert anatomy.family.layer is not None
        if anatomy.family.layer.stack.distances and config.max_relative_positions < 1:
            config.max_relative_positions = before  # the distance that the buckets are made for stays
        config.max_position_embeddings = self.tokens + skipped
        if anatomy.family.layer.stack.distances:
            set_distances(network, anatomy.family)

    def _check(self, anatomy: Anatomy) -> None:
        inputs, most = anatomy.inputs, anatomy.max_tokens
        if not anatomy.family.inputs.limited:
            raise InputError("extend_positions: this model has no maximum length; leave 'extend_positions' out")
        if anatomy.is_seq2seq:
            raise InputError("extend_positions: models that generate text from a text are not supported; leave it out")
        if inputs.prompt_tokens or inputs.taken_positions:
            raise InputError("extend_positions: a prompt or prefix takes positions; name 'extend_positions' before it")
        fixed = [layer.mixer for layer in anatomy.layers if layer.mixer.max_tokens]
        if fixed:
            raise InputError(
                f"extend_positions: mixer '{fixed[0].label()}' has a fixed length; name 'extend_positions' before it"
            )
        if self.tokens <= most:
            raise InputError(f"extend_positions: the model reads {most} tokens already; set tokens to more than that")

    @staticmethod
    def _is_of_distances(anatomy: Anatomy, path: str) -> bool:
        assert anatomy.family.layer is not None
        return path.removeprefix(f"{anatomy.family.body}.") in anatomy.family.layer.stack.distances


def sines(table: nn.Embedding, rows: int) -> nn.Module:
    """A longer table of sines, which transformers computes and niwaki's rotary attention does not read (RoFormer)."""
    new = type(table)(rows, table.embedding_dim)
    numbers: Tensor = new.create_weight()  # type: ignore[operator]
    new.weight = nn.Parameter(numbers.to(table.weight.device), requires_grad=False)
    return new


def extend_buffers(module: nn.Module, before: int, now: int) -> None:
    """transformers keeps the numbers of positions, and token types of 0, in buffers (1, positions)."""
    for name, buffer in list(module.named_buffers(recurse=False)):
        if buffer.shape == (1, before):
            places = torch.arange(now, device=buffer.device, dtype=buffer.dtype)[None]
            own = places if name == "position_ids" else torch.zeros_like(places)
            module.register_buffer(name, own, persistent=name not in module._non_persistent_buffers_set)
