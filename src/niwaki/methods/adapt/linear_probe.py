"""Trains the head on the features of the frozen encoder before anything else is trained (LP-FT).

A random head pulls the encoder away from its pretrained features in the first steps, which small datasets cannot repair. A head of one matrix gets the linear model
of the frozen baseline: logistic or ridge regression on standardized features, with the penalty that is best in cross-validation. Heads with a hidden layer, more than
50 labels and other tasks are trained by gradient steps.
The model with the trained head and the unchanged encoder is validated too. It is kept unless fine-tuned weights have a better score, and their smaller errors on
validation rows are rarely explained by chance (Wilcoxon's signed-rank test; for right and wrong answers the sign test). Without a train block, the model with the trained head is the result.
Paper: Kumar et al. 2022, Fine-Tuning can Distort Pretrained Features and Underperform Out-of-Distribution (arXiv 2202.10054).
Cost: one pass over at most 6,400 rows.
"""

from collections.abc import Callable, Sequence
from typing import Literal

import torch
from torch import Tensor, nn

from niwaki.core.errors import InputError
from niwaki.core.seeds import derive
from niwaki.core.settings import setting
from niwaki.methods._method import Context, KeepsStart, Method, Requirements, Reshapes
from niwaki.models.anatomy import reads_one_vector
from niwaki.models.forward import Batch, Outputs
from niwaki.models.linear_model import KINDS, MANY_LABELS, fitted
from niwaki.models.model import Model
from niwaki.models.parts.heads._head import HasFeatures
from niwaki.models.record import POOLED

MAX_BATCHES = 200
HELD_OUT = 10  # every so many batches, one chooses the epoch
LossFunction = Callable[[Outputs, Batch], Tensor]
Example = tuple[Tensor, Batch]  # what the head reads (sequences, hidden), and the batch it comes from


class LinearProbe(Method, Reshapes, KeepsStart):
    epochs: int = setting(
        30, "passes over the features by gradient steps; the best one on held-out rows is kept", ge=1, le=1000
    )
    lr: float = setting(2e-3, "highest learning rate of the head in gradient steps", gt=0, lt=1)
    chance: float = setting(
        0.05, "fine-tuned weights are kept if chance explains their lead on validation rows less often", gt=0, le=1
    )
    other_heads: Literal["reject", "skip"] = setting(
        "reject", "models whose head does not read one vector of a text: reject them, or train them without a probe"
    )

    version = 4
    requires = Requirements(fits_head=True)

    @property
    def max_chance(self) -> float:
        return self.chance

    def dry_prepare(self, model: Model) -> Model:
        if self.other_heads == "reject" and not reads_one_vector(model.anatomy):
            raise InputError(
                "linear_probe: it trains heads that read one vector of a text; leave it out for other tasks"
            )
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        if not reads_one_vector(self.dry_prepare(model).anatomy):
            return model
        head = model.anatomy.head
        examples = [
            (context.outputs(model, batch, frozenset({POOLED})).pooled[0].float(), batch)
            for batch in context.calibration(model, MAX_BATCHES)
        ]
        seed = derive(context.seed, "linear_probe")
        if has_linear_model(model):
            fit_linear(model, examples, seed)
            return model
        modules = nn.ModuleList(model.network.get_submodule(path) for path in [*head.inner, head.final])
        generator = torch.Generator().manual_seed(seed)
        fit_head(head.forward, modules, examples, context.outputs_loss, self.epochs, self.lr, generator)
        return model


def has_linear_model(model: Model) -> bool:
    """Whether the head is one matrix with a bias, for a task that linear models are fitted for."""
    head, linear = model.anatomy.head, model.network.get_submodule(model.anatomy.head.final)
    fits = isinstance(linear, nn.Linear) and linear.bias is not None and len(model.labels) <= MANY_LABELS
    known = not head.inner and model.network.config.problem_type in KINDS
    return fits and known and isinstance(head, HasFeatures)


def fit_linear(model: Model, examples: Sequence[Example], seed: int) -> None:
    """Writes the linear model of `models/linear_model.py` into the head."""
    head, linear = model.anatomy.head, model.network.get_submodule(model.anatomy.head.final)
    assert isinstance(head, HasFeatures)  # `has_linear_model`
    with torch.no_grad():
        features = torch.cat([head.features(pooled[:, None]) for pooled, _ in examples]).cpu().numpy()
    targets = torch.cat([batch.targets for _, batch in examples]).cpu().numpy()
    found = fitted(model.network.config.problem_type, features, targets, len(model.labels), seed)
    linear.weight.data.copy_(torch.from_numpy(found.weight))
    linear.bias.data.copy_(torch.from_numpy(found.bias))


def fit_head(
    head: Callable[[Tensor], Tensor],
    modules: nn.Module,
    examples: Sequence[Example],
    criterion: LossFunction,
    epochs: int,
    lr: float,
    generator: torch.Generator,
) -> list[float]:
    """Trains the parameters of `modules` in place, and leaves those with the smallest loss on held-out batches. Returns that loss after each epoch."""
    held_out = examples[::HELD_OUT] if len(examples) >= HELD_OUT else examples
    train = [example for place, example in enumerate(examples) if place % HELD_OUT] or examples
    optimizer = torch.optim.AdamW(modules.parameters(), lr=lr, weight_decay=0.01)
    best, losses = {name: value.clone() for name, value in modules.state_dict().items()}, [float("inf")]
    for epoch in range(epochs):
        for group in optimizer.param_groups:
            group["lr"] = lr * (1 - epoch / epochs)
        for place in torch.randperm(len(train), generator=generator).tolist():
            optimizer.zero_grad()
            loss_of(head, train[place], criterion).backward()
            optimizer.step()
        with torch.no_grad():
            loss = sum(loss_of(head, example, criterion).item() for example in held_out) / len(held_out)
        if loss < min(losses):
            best = {name: value.clone() for name, value in modules.state_dict().items()}
        losses.append(loss)
    modules.load_state_dict(best)
    optimizer.zero_grad()
    return losses[1:]


def loss_of(head: Callable[[Tensor], Tensor], example: Example, criterion: LossFunction) -> Tensor:
    pooled, batch = example
    return criterion(Outputs(head(pooled[:, None])), batch)
