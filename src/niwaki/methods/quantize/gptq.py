"""Weights of 4, 3 or 2 bits where each rounding error is made up for by the weights that are not rounded yet.

Matrix after matrix, with the inputs that those rounded before give. It acts before training: the codes are then fixed, and
a train block tunes what is left, norms, biases and head. The token table is rounded to the nearest level, and so is what
was packed before; an LSTM's matrices get 8 bits.

Paper: Frantar et al. 2022, GPTQ: Accurate Post-Training Quantization (arXiv 2210.17323); here tokens count alike.
Cost: the calibration batches forward for each matrix, up to where it is, and a factorisation for each.
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
from niwaki.models.packed.low_bit import best_scale, kept, levels, valued


class Gptq(Method, Reshapes):
    bits: Bits = setting(4, "of a weight: 4 (16 levels), 3 (7 levels) or 2 (4 levels)")
    group: int = setting(64, "neighbours in a row that share a scale of 16 bits; 0 is the whole row", ge=0)
    embeddings: bool = setting(True, "pack the token table too")
    batches: int = setting(16, "calibration batches that tell which inputs go together", ge=1)
    damping: float = setting(0.1, "added to every input's power, as a share of the mean: guards against chance", gt=0)

    version = 2
    requires = Requirements(reduces=("file", "memory", "time"))

    def dry_prepare(self, model: Model) -> Model:
        self._pack(model, {})
        return model

    @torch.no_grad()
    def prepare(self, model: Model, context: Context) -> Model:
        batches = list(context.calibration(model, self.batches))
        if self.embeddings:  # first: the layers are to make up for its errors too
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
    """Plain matrices in the order in which they are first read, each once, those that read the same together; and how often
    these are read in a pass."""
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
    """Of each matrix, the sum of x xᵀ over the tokens that it reads, (in, in), each in proportion."""
    totals: dict[str, Tensor] = {}

    def add(path: str, x: Tensor) -> None:
        even = in_proportion(x, model.network.get_submodule(path).get_parameter("weight")).flatten(0, -2)
        totals[path] = totals[path] + even.T @ even if path in totals else even.T @ even

    record_inputs(model, paths, batches, add, calls)
    return totals


def in_proportion(x: Tensor, weight: Tensor) -> Tensor:
    """Inputs (tokens, in), each divided by the length of what it is made into: so an error counts by the share of the output
    that it is. Else the first token would be all that is cared for: in some layers it is a hundred times as large as the
    others, and to mend its clipped weights theirs were given up."""
    return x / functional.linear(x, weight).norm(dim=-1, keepdim=True).clamp(min=1e-6)


def compensated(weight: Tensor, powers: Tensor, base: int, group: int, damping: float) -> tuple[Tensor, Tensor]:
    """(out, in) to the same on levels, and the scales (out, groups). Columns are rounded one after the other; what each is wrong
    by is spread over those that follow, so that the outputs change least (optimal brain surgeon, in Cholesky's form)."""
    columns = weight.shape[1]
    size = min(group or columns, columns)
    power = powers.diagonal().mean().clamp(min=1e-12).double()
    inverse = torch.cholesky_inverse(torch.linalg.cholesky(powers.double() + damping * power * torch.eye(columns)))
    spread = torch.linalg.cholesky(inverse, upper=True).float()  # row i: what follows column i takes of its error
    left, scales = weight.detach().clone().float(), []
    for start in range(0, columns, size):
        end = min(start + size, columns)
        part = left[:, start:end]
        scale = kept(best_scale(part[:, None], base))  # (out, 1): of the weights as they are by now
        errors = torch.empty_like(part)
        for place, column in enumerate(range(start, end)):
            seen = valued(levels(part[:, place, None, None], scale, base), scale, base)[:, 0, 0]
            errors[:, place] = (part[:, place] - seen) / spread[column, column]
            part[:, place:] -= errors[:, place, None] * spread[column, column:end]
            part[:, place] = seen
        left[:, end:] -= errors @ spread[start:end, end:]
        scales.append(scale)
    return left, torch.cat(scales, dim=1)
