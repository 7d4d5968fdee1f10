"""Learns which heads, neurons and ranks to keep: gates that are trained with the weights, under a budget.

Layers may end with different numbers of units. A Lagrange multiplier increases until the expected size meets the budget. A layer
keeps at least one head and one neuron.

Paper: Louizos, Welling, Kingma 2018, Learning Sparse Neural Networks through L0 Regularization (arXiv 1712.01312); the budget, and
gates over ranks: Wang, Wohlwend, Lei 2020, Structured Pruning of Large Language Models (arXiv 1910.04732).
Cost: about 3 % of a step. How exactly the budget is met depends on the number of steps: a few hundred are few.
"""

from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import PrivateAttr
from torch import Tensor

from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.methods._method import Bakes, Context, Method, Penalizes, Requirements, Reshapes, Schedules
from niwaki.methods.prune._gates import Gates, Lagrangian
from niwaki.models.edits.ffn import Ffn
from niwaki.models.edits.heads import Heads
from niwaki.models.edits.ranks import Ranks, factored
from niwaki.models.forward import Outputs
from niwaki.models.model import Model


class L0(Method, Reshapes, Penalizes, Schedules, Bakes):
    target: float = setting(0.5, "fraction of the parameters in the matrices to keep", gt=0, lt=1)
    over: list[Literal["heads", "ffn", "ranks"]] = setting(
        ["heads", "ffn"], "units with gates: heads, ffn (neurons), ranks (of factored matrices)", min_length=1
    )
    warmup: float = setting(
        0.4, "training progress, from 0 to 1, at which the budget has fallen from 1 to the target", ge=0, le=1
    )
    speed: float = setting(1000.0, "learning rate of the gates, relative to the weights", gt=0)
    pressure: float = setting(4000.0, "learning rate of the multipliers, relative to the weights", gt=0)

    version = 2
    requires = Requirements(training=True, pins_modules=True, reduces=("file", "memory", "flops", "time"))

    whole: ClassVar[bool] = False  # whether a further gate switches all heads, and all neurons, of a layer

    _gates: Gates | None = PrivateAttr(None)

    @property
    def min_progress(self) -> float:
        return 1.0  # only the last weights meet the budget

    def dry_prepare(self, model: Model) -> Model:
        if "heads" in self.over:
            model.anatomy.require_layers(self.label())
        if "ranks" in self.over and not factored(model.network, model.anatomy):
            raise InputError(
                f"{self.label()}: no matrix is factored, so there are no ranks; factorize in an earlier stage"
            )
        min_share = Gates(model.clone(), self.over, self.speed, self.whole, self.label()).min_share()
        if self.target <= min_share:
            raise InputError(
                f"{self.label()}: {min_share:.0%} of the parameters have no gates and stay; raise target above that, or add to over"
            )
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        self.dry_prepare(model)
        self._gates = Gates(model, self.over, self.speed, self.whole, self.label())
        self._helpers = Lagrangian(self.pressure)
        return model

    def penalty(self, model: Model, outputs: Outputs) -> Tensor:
        assert self._gates is not None and self._helpers is not None
        return self._helpers(self._gates.share())

    def after_step(self, model: Model, progress: float) -> None:
        assert isinstance(self._helpers, Lagrangian)
        share = min(1.0, progress / self.warmup) if self.warmup else 1.0
        self._helpers.aim.fill_(1 - (1 - self.target) * share)

    def finish(self, model: Model) -> Model:
        assert self._gates is not None
        self._gates.cut(model)
        return model

    def dry_finish(self, model: Model) -> Model:
        """Training decides how many units each layer keeps; the skeleton loses one of each."""
        return one_fewer(model, self.over)


def one_fewer(model: Model, over: Sequence[str]) -> Model:
    """The skeleton without the last head and neuron of each layer, and the last rank, unless it is the only one."""
    anatomy = model.anatomy
    if "heads" in over:
        model.apply_edit(Heads(keep=[max(1, layer.heads - 1) for layer in anatomy.attentions]))
    if "ffn" in over:
        model.apply_edit(Ffn(keep=[max(1, block.ffn_size - 1) for block in anatomy.blocks]))
    if "ranks" in over:
        model.apply_edit(Ranks(keep=[max(1, module.rank - 1) for module in factored(model.network, anatomy).values()]))
    return model
