"""Random calls of the training kernels: every kernel with shapes that fill no vector, one token, ragged sequences, empty batches."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from models.fused.comparing import attended, scores
from models.fused.comparing import linear as module_of
from niwaki.models.fused.add_norm import add_norm
from niwaki.models.fused.attention import attention, attention_and_scores
from niwaki.models.fused.cross_entropy import cross_entropy
from niwaki.models.fused.feed_forward import feed_forward
from niwaki.models.fused.library import LANES
from niwaki.models.fused.linear import linear
from niwaki.models.fused.pre_norm import pre_norm

KERNELS = ("linear", "feed_forward", "add_norm", "pre_norm", "attention", "cross_entropy")
LONGEST, WIDEST = 70, 150
Call = Callable[[], Tensor]


class Drawn:
    """One call, decided by a seed: `own` runs the kernels on `inputs`, whose memory is surrounded by NaN, and `reference` computes the same
    in fp32 with torch. None with dropout, and for norms of one number, whose gradients are 0 but for rounding."""

    def __init__(self, seed: int) -> None:
        self.seed, self.draw = seed, np.random.default_rng(seed)
        self.kernel = KERNELS[seed % len(KERNELS)]
        self.inputs: list[Tensor] = []
        self.rate = 0.3 if self.chance(0.3) else 0.0
        self.own, reference = getattr(self, f"_{self.kernel}")()
        dropped = self.rate and self.kernel in ("add_norm", "attention")
        norm_of_one = self.kernel.endswith("norm") and self.inputs[0].shape[1] == 1
        self.reference: Call | None = None if dropped or norm_of_one else reference

    def chance(self, share: float) -> bool:
        return bool(self.draw.random() < share)

    def size(self, low: int, high: int) -> int:
        """Log-uniform, so that small sizes are frequent; `low` may be 0."""
        return int(np.exp(self.draw.uniform(np.log(low + 1), np.log(high + 2)))) - 1

    def even(self) -> int:
        return 2 * self.size(1, WIDEST // 2)

    def rows(self, count: int, width: int, dtype: torch.dtype = torch.bfloat16) -> Tensor:
        """Random rows with NaN before, between and behind them in memory, at any address."""
        before, behind = self.draw.integers(0, 20, 2)
        around = torch.full((count + 2, before + width + behind), torch.nan, dtype=dtype)
        inside = around[1:-1, before : before + width]
        inside.copy_(torch.from_numpy(self.draw.standard_normal((count, width), dtype=np.float32)))
        self.inputs.append(inside.requires_grad_())
        return inside

    def parameters(self, *modules: nn.Module) -> None:
        for module in modules:
            self.inputs.extend(module.parameters())

    def _linear(self) -> tuple[Call, Call]:
        inputs, bias = self.even(), self.chance(0.7)
        rows = self.rows(self.size(0, LONGEST), inputs)
        modules = [module_of(inputs, self.even(), bias) for _ in range(self.size(1, 3))]
        self.parameters(*modules)
        return (
            lambda: torch.cat(linear(rows, modules), dim=1),
            lambda: torch.cat([module(rows.float()) for module in modules], dim=1),
        )

    def _feed_forward(self) -> tuple[Call, Call]:
        hidden, inner = self.even(), self.even()
        rows, activation = self.rows(self.size(0, LONGEST), hidden), nn.GELU("tanh" if self.chance(0.5) else "none")
        first, second = module_of(hidden, inner), module_of(inner, hidden)
        self.parameters(first, second)
        return (
            lambda: feed_forward(rows, first, activation, second),
            lambda: second(activation(first(rows.float())).bfloat16().float()),
        )

    def _norm(self, width: int) -> nn.LayerNorm:
        norm = nn.LayerNorm(width)
        for parameter in norm.parameters():
            parameter.data = torch.from_numpy(self.draw.standard_normal(width, dtype=np.float32))
        self.parameters(norm)
        return norm

    def _add_norm(self) -> tuple[Call, Call]:
        count, width = self.size(0, LONGEST), self.size(1, WIDEST)
        mixed, rows, norm = self.rows(count, width), self.rows(count, width), self._norm(width)
        return lambda: add_norm(mixed, rows, norm, self.rate), lambda: norm((mixed + rows).float())

    def _pre_norm(self) -> tuple[Call, Call]:
        width = self.size(1, WIDEST)
        rows, norm = self.rows(self.size(0, LONGEST), width, torch.float32), self._norm(width)
        return lambda: pre_norm(rows, norm), lambda: norm(rows)

    def lengths(self) -> list[int]:
        """Ragged, with single tokens; now and then a sequence has none."""
        lengths = [self.size(1, LONGEST // 2) for _ in range(self.size(1, 5))]
        return [*lengths, 0] if self.chance(0.1) else lengths

    def _attention(self) -> tuple[Call, Call]:
        lengths, head_size = self.lengths(), LANES * self.size(1, 4)
        width, first, causal = head_size * self.size(1, 3), self.chance(0.3), self.chance(0.3)
        query = self.rows(len(lengths) if first else sum(lengths), width)
        key, value = self.rows(sum(lengths), width), self.rows(sum(lengths), width)
        settings = torch.tensor(lengths), head_size, 0.3, self.rate, causal and not first

        def mixed() -> Tensor:
            return attended(query, key, value, lengths, head_size, 0.3, settings[-1])

        if first or self.chance(0.5):
            return lambda: attention(query, key, value, *settings), mixed
        return (
            lambda: together(*attention_and_scores(query, key, value, *settings)),
            lambda: together(mixed(), *scores(query, key, lengths, head_size, 0.3)),
        )

    def _cross_entropy(self) -> tuple[Call, Call]:
        count, classes = self.size(1, LONGEST), self.size(1, 2 * WIDEST)
        logits, targets = self.rows(count, classes), torch.from_numpy(self.draw.integers(0, classes, count))
        return (
            lambda: cross_entropy(logits, targets),
            lambda: nn.functional.cross_entropy(logits.float(), targets),
        )


def together(*tensors: Tensor) -> Tensor:
    return torch.cat([one.float().flatten() for one in tensors])


def results(drawn: Drawn, call: Call) -> Sequence[Tensor]:
    """The result, and the gradients of all inputs."""
    torch.manual_seed(drawn.seed)
    found = call()
    upstream = torch.from_numpy(np.random.default_rng(drawn.seed).standard_normal(found.shape, dtype=np.float32))
    gradients = torch.autograd.grad(found, drawn.inputs, upstream.bfloat16().to(found.dtype))
    return [one.detach() for one in (found, *gradients)]
