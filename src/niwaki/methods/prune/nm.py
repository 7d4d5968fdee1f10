"""Keeps the n largest of every m neighbouring weights of a row (2 of 4), the pattern that sparse GPU kernels support.

The mask is chosen once, before training if there is any. On CPUs it saves bytes, not time: ONNX Runtime's kernels multiply the
zeros too.

Paper: Mishra et al. 2021, Accelerating Sparse Deep Neural Networks (arXiv 2104.08378).
Cost: about 5 % of a step, with training.
"""

import torch
from pydantic import model_validator
from torch import Tensor

from niwaki.core.settings import setting
from niwaki.methods._method import Bakes, Context, Method, Requirements, Reshapes
from niwaki.methods.prune._masks import Mask, densify, matrices, store_sparse
from niwaki.models.model import Model
from niwaki.models.module_paths import to_dense
from niwaki.models.parametrizations import add_parametrization


class Nm(Method, Reshapes, Bakes):
    n: int = setting(2, "weights to keep of every m", ge=1)
    m: int = setting(4, "group size along the inputs; the last group of a row may be smaller", ge=2)

    requires = Requirements(pins_modules=True, reduces=("file",))

    @model_validator(mode="after")
    def _fewer(self) -> "Nm":
        if self.n >= self.m:
            raise ValueError(f"n must be less than m, which is {self.m}")
        return self

    def dry_prepare(self, model: Model) -> Model:
        matrices(model, "nm")
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        for module in densify(model, "nm").values():
            add_parametrization(module, Mask(module.weight, largest_of(module.weight.detach().abs(), self.n, self.m)))
        return model

    def finish(self, model: Model) -> Model:
        found = matrices(model, "nm")
        sizes = {path: to_dense(module).weight.detach().abs() for path, module in found.items()}
        return store_sparse(model, {path: largest_of(size, self.n, self.m) for path, size in sizes.items()})

    def dry_finish(self, model: Model) -> Model:
        return store_sparse(model)


def largest_of(sizes: Tensor, n: int, m: int) -> Tensor:
    """(rows, columns) to a mask of the n largest of every m in a row; of equal values, the first."""
    columns = sizes.shape[1]
    groups = torch.nn.functional.pad(sizes, (0, -columns % m), value=-1.0).unflatten(1, (-1, m))
    best = groups.sort(dim=-1, descending=True, stable=True).indices[..., :n]
    return torch.zeros_like(groups, dtype=torch.bool).scatter(-1, best, True).flatten(1)[:, :columns]
