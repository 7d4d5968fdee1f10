"""Matrices as products of two thin ones, each with the rank that one budget for all of them gives it.

A further rank goes where it saves most error for its numbers; a matrix that two would not make smaller stays whole. Heads stay
as they are: attention reads the products.

With `both` the error of a matrix is that of the loss to second order, outputs taken apart: so it can be weighed against that of
another matrix. Halving MiniLM's matrices without training raised the loss on 372 validation rows of rotten_tomatoes from 0.385
to 0.416 with `both`; to 0.53 with `activations` (0.47 if shared evenly), 0.67 (0.49) with `fisher`, 0.62 (0.61) with `none`.

Paper: Wang et al. 2024, SVD-LLM (arXiv 2403.07378): the error that counts is that of the outputs, for the inputs that occur
(`activations`); Hsu et al. 2022, Language Model Compression with Weighted Low-Rank Factorization (arXiv 2207.00112): rows count
as the loss depends on them (`fisher`); `both` as the curvature in Martens and Grosse 2015, K-FAC (arXiv 1503.05671).
Cost: a few calibration batches forward, but for `activations` also backward; a singular value decomposition of each matrix.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal

import torch
from torch import Tensor

from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.methods._method import Context, Method, Requirements, Reshapes
from niwaki.methods.factorize._calibration import covariances, distinct_matrices, fisher_rows, output_gradients
from niwaki.models.edits.factored import Factored
from niwaki.models.model import Model
from niwaki.models.module_paths import to_dense
from niwaki.models.packed.factored import Factors

Shape = tuple[int, int]  # (out, in)
STATISTICS: dict[str, dict[str, Callable[..., dict[str, Tensor]]]] = {
    "both": {"inputs": covariances, "rows": output_gradients},
    "activations": {"inputs": covariances},
    "fisher": {"rows": fisher_rows},
    "none": {},
}


class Svd(Method, Reshapes):
    keep: float = setting(0.5, "share of the numbers in the encoder's matrices that stay", gt=0, lt=1)
    weighting: Literal["both", "activations", "fisher", "none"] = setting(
        "both",
        "which errors count: those of outputs that the loss depends on, of all outputs, of rows that it depends on, or all alike",
    )
    even: bool = setting(False, "the same share of every matrix, instead of one budget for all")
    multiple: int = setting(1, "ranks are multiples of this", ge=1)
    batches: int = setting(16, "calibration batches that tell what counts", ge=1)

    requires = Requirements(reduces=("file", "memory", "flops", "time"))

    def dry_prepare(self, model: Model) -> Model:
        shapes = self._shapes(model)
        packed_like = {path: torch.ones(min(shape)) for path, shape in shapes.items()}
        self._operate(model, ranks(shapes, packed_like, self.keep, self.multiple, even=True), {})
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        shapes = self._shapes(model)
        looks = STATISTICS[self.weighting]
        batches = list(context.calibration(model, self.batches)) if looks else []
        seen = {name: look(model, list(shapes), batches, context) for name, look in looks.items()}
        energies, factors = {}, {}
        for path in shapes:
            weight = to_dense(model.network.get_submodule(path)).weight.detach().double()
            inputs, rows = (seen.get(name, {}).get(path) for name in ("inputs", "rows"))
            energies[path], factors[path] = decomposed(weight, rows, inputs)
        chosen = ranks(shapes, energies, self.keep, self.multiple, self.even)
        self._operate(model, chosen, {path: balanced(*factors[path], rank) for path, rank in chosen.items() if rank})
        return model

    def _operate(self, model: Model, chosen: Mapping[str, int], factors: dict[str, Factors]) -> None:
        if not any(chosen.values()):
            raise InputError(
                f"svd: no matrix gets smaller in two at keep {self.keep:g}; lower keep, or leave 'svd' out"
            )
        first = {id(model.network.get_submodule(path)): rank for path, rank in chosen.items()}
        paths = list(model.anatomy.whole_matrices())
        model.apply_edit(
            Factored(ranks=[first.get(id(model.network.get_submodule(path)), 0) for path in paths]).with_factors(
                factors
            )
        )

    def _shapes(self, model: Model) -> dict[str, Shape]:
        found = distinct_matrices(model, model.anatomy.whole_matrices())
        if not found:
            raise InputError("svd: this model has no matrices but its head's; leave 'svd' out")
        return {path: (module.out_features, module.in_features) for path, module in found.items()}


def decomposed(weight: Tensor, rows: Tensor | None, inputs: Tensor | None) -> tuple[Tensor, Factors]:
    """Of a weight (out, in), rows of which count by `rows` (out,) and errors of outputs by the covariance of `inputs` (in, in):
    the squared error that each further rank saves, largest first, and factors (out, n) and (n, in), of which the first k are
    the best of rank k."""
    scale = (
        torch.ones(len(weight), dtype=weight.dtype)
        if rows is None
        else rows.sqrt().clamp(min=1e-12 * float(rows.max().sqrt()) or 1e-12)
    )
    scaled = scale[:, None] * weight
    if inputs is not None and len(weight) <= len(inputs):  # the smaller of two ways to the same
        energy, left = (found.flip(-1) for found in torch.linalg.eigh(scaled @ inputs @ scaled.T))
    else:
        left, values, _ = torch.linalg.svd(scaled if inputs is None else scaled @ root(inputs), full_matrices=False)
        energy = values.square()
    return energy, (left / scale[:, None], left.T @ scaled)


def root(covariance: Tensor) -> Tensor:
    """R with R Rᵀ = the covariance."""
    values, vectors = torch.linalg.eigh(covariance)
    return vectors * values.clamp(min=0).sqrt()


def balanced(left: Tensor, right: Tensor, rank: int) -> Factors:
    """The first `rank` of both, columns of the one as long as rows of the other: so they train alike."""
    left, right = left[:, :rank], right[:rank]
    ratio = (right.norm(dim=1) / left.norm(dim=0).clamp(min=1e-12)).sqrt().clamp(min=1e-12)
    return (left * ratio).float(), (right / ratio[:, None]).float()


def ranks(
    shapes: Mapping[str, Shape], energies: Mapping[str, Tensor], keep: float, multiple: int, even: bool
) -> dict[str, int]:
    """The rank of each matrix under one budget of numbers; 0 for one that stays whole."""
    sizes = {path: out * inputs for path, (out, inputs) in shapes.items()}
    taken = dict.fromkeys(shapes, multiple)
    spent = {path: min(sizes[path], multiple * sum(shape)) for path, shape in shapes.items()}
    left = keep * sum(sizes.values()) - sum(spent.values())
    if left < 0:  # also where it is shared evenly
        least = sum(spent.values()) / sum(sizes.values())
        raise InputError(f"svd: keep {keep:g} is less than rank {multiple} in every matrix takes, which is {least:.3g}")
    if even:
        return {path: even_rank(*shape, keep, multiple) for path, shape in shapes.items()}
    steps = sorted(_steps(shapes, energies, multiple), key=lambda step: -step[0])
    for _, path, rank in steps:
        cost = min(sizes[path], rank * sum(shapes[path])) - spent[path]
        if rank == taken[path] + multiple and cost <= left:
            taken[path], spent[path], left = rank, spent[path] + cost, left - cost
    return {path: 0 if spent[path] >= sizes[path] else rank for path, rank in taken.items()}


def _steps(shapes: Mapping[str, Shape], energies: Mapping[str, Tensor], multiple: int) -> list[tuple[float, str, int]]:
    """What each further rank of a matrix saves for a number that it takes: (saved, path, rank then)."""
    found: list[tuple[float, str, int]] = []
    for path, energy in energies.items():
        each: Any = [float(some.mean()) / sum(shapes[path]) for some in energy.split(multiple)]
        found += [(saved, path, multiple * (number + 1)) for number, saved in enumerate(each) if number]
    return found


def even_rank(out: int, inputs: int, keep: float, multiple: int) -> int:
    """The rank at which two matrices take `keep` of the numbers of one; 0 where that is no less than the one."""
    rank = max(multiple, int(keep * out * inputs / (out + inputs)) // multiple * multiple)
    return rank if rank * (out + inputs) < out * inputs else 0
