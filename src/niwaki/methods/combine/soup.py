"""Model soup: averages the weights of models that were fine-tuned from the same checkpoint with different settings or seeds.

The model that the stage starts from is one of them. A uniform soup averages all. A greedy soup adds them from the best to the worst, and keeps each
only if the score on the validation rows does not fall.
Paper: Wortsman et al. 2022, Model soups (arXiv 2203.05482).
Cost: greedy scores the validation rows about twice for each model; the result is as large and as fast as one of them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import torch
from torch import Tensor, nn

from niwaki.core.errors import InputError
from niwaki.core.log import info
from niwaki.core.settings import setting
from niwaki.methods._method import Context, Method, ReadsStages, Reshapes
from niwaki.models.model import Model
from niwaki.models.packed.int8 import Int8Linear
from niwaki.models.packed.store import StoredLinear

Weights = Mapping[str, Tensor]


class Soup(Method, Reshapes, ReadsStages):
    other_stages: list[str] = setting([], "stages whose models are averaged with the model that this stage starts from")
    choose: Literal["greedy", "uniform"] = setting(
        "greedy", "uniform averages all; greedy only those that do not lower the validation score"
    )

    @property
    def stages(self) -> tuple[str, ...]:
        return tuple(self.other_stages)

    def check_stages(self, model: Model, stage_model: Callable[[str], Model]) -> None:
        if not self.other_stages:
            raise InputError("soup: name the stages to average in other_stages = ['…']")
        for name in self.other_stages:
            reject_other_shapes(model, stage_model(name), name)

    def prepare(self, model: Model, context: Context) -> Model:
        names = ["start", *self.other_stages]
        each = [weights_of(one) for one in (model, *map(context.stage_model, self.other_stages))]
        chosen = list(range(len(each)))
        if self.choose == "greedy":
            chosen = greedy(each, lambda weights: context.score(with_weights(model, weights)))
            info(f"soup: averages {len(chosen)} of {len(each)} models: {', '.join(names[number] for number in chosen)}")
        return with_weights(model, mean([each[number] for number in chosen]))


def greedy(each: Sequence[Weights], score: Callable[[Weights], float]) -> list[int]:
    """Places of the chosen ingredients, the best first; of equal ones, the first."""
    scores = [score(one) for one in each]
    best, *others = sorted(range(len(each)), key=lambda number: -scores[number])
    chosen, highest = [best], scores[best]
    for number in others:
        tried = score(mean([each[place] for place in (*chosen, number)]))
        if tried >= highest:
            chosen, highest = [*chosen, number], tried
    return chosen


def mean(each: Sequence[Weights]) -> dict[str, Tensor]:
    """The mean of each tensor of floats; others, such as positions, are those of the first."""
    first = each[0]
    return {
        name: torch.stack([one[name] for one in each]).mean(dim=0) if value.is_floating_point() else value
        for name, value in first.items()
    }


def weights_of(model: Model) -> dict[str, Tensor]:
    return {name: value.detach().clone() for name, value in model.network.state_dict().items()}


def with_weights(model: Model, weights: Weights) -> Model:
    model.network.load_state_dict(weights)
    return model


def reject_other_shapes(model: Model, other: Model, name: str) -> None:
    """Raise InputError unless weights of both can be averaged. Both may be skeletons."""
    for one in (model, other):
        if any(isinstance(module, Int8Linear | StoredLinear) for module in one.network.modules()):
            raise InputError("soup: packed weights cannot be averaged; make the soup before packing")
    own, theirs = (shapes(one.network) for one in (model, other))
    different = next((key for key in {**own, **theirs} if own.get(key) != theirs.get(key)), None)
    if different is not None:
        raise InputError(
            f"soup: the model of stage '{name}' has another shape than the start model ('{different}'); "
            "average stages that were fine-tuned from the same model"
        )


def shapes(network: nn.Module) -> dict[str, torch.Size]:
    return {name: value.shape for name, value in network.state_dict().items()}
