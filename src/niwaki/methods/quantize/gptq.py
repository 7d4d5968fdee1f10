"""Weights of 4, 3 or 2 bits, where the weights that are not yet rounded compensate for each rounding error.

Matrices are rounded one by one, each with the inputs that the rounded matrices before it produce. This happens before training: codes
are then fixed, and a train block tunes the rest (norms, biases, head). The token table, and matrices that were packed before, are
rounded to the nearest level; LSTM matrices get 8 bits.

Paper: Frantar et al. 2022, GPTQ: Accurate Post-Training Quantization (arXiv 2210.17323); here all tokens have the same weight.
Cost: for each matrix, the calibration batches forward up to it, and a Cholesky factorization.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from niwaki.core.settings import setting
from niwaki.methods._method import Context, Method, Requirements, Reshapes
from niwaki.methods.quantize._rounding import BASE, Bits, record_inputs
from niwaki.models.edits.low_bit import LowBit
from niwaki.models.forward import Batch
from niwaki.models.model import Model
from niwaki.models.module_paths import unique_modules
from niwaki.models.packed.low_bit import as_float16, best_scale, levels, valued


class Gptq(Method, Reshapes):
    bits: Bits = setting(4, "bits per weight: 4 (16 levels), 3 (7 levels) or 2 (4 levels)")
    group: int = setting(64, "neighbours in a row that share a 16-bit scale; 0 is the whole row", ge=0)
    embeddings: bool = setting(True, "pack the token table too")
    batches: int = setting(16, "calibration batches to estimate the correlations of the inputs", ge=1)
    damping: float = setting(0.1, "added to the diagonal of the Hessian, relative to its mean: regularization", gt=0)

    version = 2
    requires = Requirements(reduces=("file", "memory", "time"))

    def dry_prepare(self, model: Model) -> Model:
        self._pack(model, {})
        return model

    @torch.no_grad()
    def prepare(self, model: Model, context: Context) -> Model:
        batches = list(context.calibration(model, self.batches))
        if self.embeddings:  # first, so that the layers compensate for its errors too
            model.apply_edit(LowBit(base=BASE[self.bits], group=self.group, matrices=False))
        scales: dict[str, Tensor] = {}
        for paths, calls in calibration_order(model, batches[0]):
            for path, powers in input_powers(model, paths, batches, calls).items():
                linear: Any = model.network.get_submodule(path)
                found, scales[path] = compensated(linear.weight, powers, BASE[self.bits], self.group, self.damping)
                linear.weight.copy_(found)
        self._pack(model, scales)
        return model

    def _pack(self, model: Model, scales: dict[str, Tensor]) -> None:
        edit = LowBit(base=BASE[self.bits], group=self.group, table=self.embeddings, small_weights=True)
        model.apply_edit(edit.with_scales(scales))


def calibration_order(model: Model, batch: Batch) -> list[tuple[list[str], int]]:
    """Float matrices in the order in which they are first used, each once; those with the same input are grouped. With each group,
    the number of calls in a forward pass."""
    found = unique_modules(model.network, model.anatomy.matrices())
    plain = [path for path, module in found.items() if type(module) is nn.Linear]
    inputs: dict[str, list[Tensor]] = {}
    record_inputs(model, plain, [batch], lambda path, x: inputs.setdefault(path, []).append(x))
    turns: list[tuple[list[str], int]] = []
    before = None
    for path, read in inputs.items():
        if before is not None and torch.equal(before, read[0]):
            turns[-1] = ([*turns[-1][0], path], turns[-1][1] + len(read))
        else:
            turns.append(([path], len(read)))
        before = read[0]
    return turns


def input_powers(model: Model, paths: Sequence[str], batches: Sequence[Batch], calls: int = 0) -> dict[str, Tensor]:
    """For each matrix, the sum of x xᵀ over its inputs, (in, in), each normalized by `in_proportion`."""
    totals: dict[str, Tensor] = {}

    def add(path: str, x: Tensor) -> None:
        even = in_proportion(x, model.network.get_submodule(path).get_parameter("weight")).flatten(0, -2)
        totals[path] = totals[path] + even.T @ even if path in totals else even.T @ even

    record_inputs(model, paths, batches, add, calls)
    return totals


def in_proportion(x: Tensor, weight: Tensor) -> Tensor:
    """Inputs (tokens, in), each divided by the norm of its output, so that relative errors count. Otherwise the first token would
    dominate: in some layers it is a hundred times as large as the others."""
    return x / functional.linear(x, weight).norm(dim=-1, keepdim=True).clamp(min=1e-6)


def compensated(weight: Tensor, powers: Tensor, base: int, group: int, damping: float) -> tuple[Tensor, Tensor]:
    """The weight (out, in) rounded to levels, and the scales (out, groups). Columns are rounded one by one; the error of each is
    distributed over the following ones so that the outputs change least (optimal brain surgeon, by Cholesky factorization)."""
    columns = weight.shape[1]
    size = min(group or columns, columns)
    power = powers.diagonal().mean().clamp(min=1e-12).double()
    inverse = torch.cholesky_inverse(torch.linalg.cholesky(powers.double() + damping * power * torch.eye(columns)))
    spread = torch.linalg.cholesky(
        inverse, upper=True
    ).float()  # row i: how the following columns take the error of column i
    left, scales = weight.detach().clone().float(), []
    for start in range(0, columns, size):
        end = min(start + size, columns)
        part = left[:, start:end]
        scale = as_float16(best_scale(part[:, None], base))  # (out, 1), of the compensated weights
        errors = torch.empty_like(part)
        for place, column in enumerate(range(start, end)):
            seen = valued(levels(part[:, place, None, None], scale, base), scale, base)[:, 0, 0]
            errors[:, place] = (part[:, place] - seen) / spread[column, column]
            part[:, place:] -= errors[:, place, None] * spread[column, column:end]
            part[:, place] = seen
        left[:, end:] -= errors @ spread[start:end, end:]
        scales.append(scale)
    return left, torch.cat(scales, dim=1)
