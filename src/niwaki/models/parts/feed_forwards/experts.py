"""A mixture of experts (Shazeer et al. 2017): each token, or each text, goes through the few of many small dense blocks that a router names."""

from functools import partial
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from niwaki.core.errors import InputError
from niwaki.core.settings import Settings, setting
from niwaki.models.activation_functions import MODULES
from niwaki.models.block import Block
from niwaki.models.expert_routing import choose, run_grouped
from niwaki.models.layout import Layout
from niwaki.models.parts.feed_forwards._feed_forward import FeedForward
from niwaki.models.record import ROUTING, Record


class ExpertsSettings(Settings):
    experts: int = setting(8, "number of experts", ge=2, le=1024)
    active: int = setting(2, "experts that a token goes through", ge=1, le=1024)
    neurons: int = setting(
        1024, "neurons of all experts together; where they cannot be divided, the first experts get one more", ge=2
    )
    shared: int = setting(0, "further neurons that all tokens go through", ge=0)
    route: Literal["token", "text"] = setting(
        "token", "whether each token has its own experts, or the first token chooses for its text"
    )
    weights: Literal["sum", "mean"] = setting(
        "sum", "whether outputs of experts are added up, or averaged by the router's probabilities"
    )
    activation: str = setting("gelu", "activation function")
    dropout: float = setting(0.0, "share of neurons dropped while training", ge=0, lt=1)


class Experts(FeedForward, nn.Module):
    """`first.3` and `second.3` are the matrices of expert 3; the shared neurons, if there are any, come behind the last expert."""

    settings = ExpertsSettings
    native: ClassVar[str | None] = "experts"
    floats = ("router",)

    def __init__(self, hidden_size: int, settings: ExpertsSettings) -> None:
        nn.Module.__init__(self)
        self.experts, self.active = settings.experts, settings.active
        self.by_text, self.is_sum = settings.route == "text", settings.weights == "sum"
        if self.active > self.experts or self.experts > settings.neurons:
            raise InputError(
                f"experts: {settings.active} active experts of {self.experts} with {settings.neurons} neurons are not possible"
            )
        if settings.activation not in MODULES:
            raise InputError(
                f"experts: activation must be one of {', '.join(MODULES)} (given: '{settings.activation[:40]}')"
            )
        sizes = [*sizes_of(settings.neurons, settings.experts), *([settings.shared] if settings.shared else [])]
        self.router = nn.Linear(hidden_size, settings.experts)
        self.first = nn.ModuleList(nn.Linear(hidden_size, size) for size in sizes)
        self.second = nn.ModuleList(nn.Linear(size, hidden_size) for size in sizes)
        self.activation = MODULES[settings.activation]
        self.drop = nn.Dropout(settings.dropout)

    @property
    def from_hidden(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(f"first.{number}" for number in range(len(self.first)))

    @property
    def to_hidden(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(f"second.{number}" for number in range(len(self.second)))

    @property
    def ffn_size(self) -> int:  # type: ignore[override]
        return sum(block.ffn_size for block in self.blocks(""))

    def blocks(self, key: str) -> list[Block]:
        """No key of a config states the sizes of experts."""
        return [Block(self, first, second) for first, second in zip(self.from_hidden, self.to_hidden, strict=True)]

    def forward(self, rows: Tensor) -> Tensor:
        return self.forward_in(rows, None, {})

    def forward_in(self, rows: Tensor, layout: Layout | None, record: Record) -> Tensor:
        logits = self.routed(rows, layout).flatten(0, -2)  # (rows, experts)
        if ROUTING in record:
            record[ROUTING].append(logits)
        flat = rows.flatten(0, -2)
        chosen, weights = choose(logits, self.active, self.is_sum)
        found = run_grouped(flat, chosen, [partial(self.expert, number) for number in range(self.experts)])
        if self.is_sum and not torch.is_grad_enabled():
            mixed = found.sum(dim=1) if self.active > 1 else found[:, 0]
        else:
            mixed = (found * weights.to(found.dtype)[..., None]).sum(dim=1)
        if len(self.first) > self.experts:
            mixed = mixed + self.expert(self.experts, flat)
        return mixed.reshape(rows.shape)

    def routed(self, rows: Tensor, layout: Layout | None) -> Tensor:
        """Router logits (…, experts), always computed in fp32: rounding would change the choice."""
        with torch.autocast(rows.device.type if not rows.is_meta else "cpu", enabled=False):
            if self.by_text and layout is not None:
                return layout.of_first(rows.float(), self.router)
            return self.router(rows.float())

    def expert(self, number: int, rows: Tensor) -> Tensor:
        """Rows (rows, hidden) through one expert."""
        return self.second[number](self.drop(self.activation(self.first[number](rows))))


def sizes_of(neurons: int, experts: int) -> list[int]:
    """How many neurons each expert has."""
    return [neurons // experts + (number < neurons % experts) for number in range(experts)]
