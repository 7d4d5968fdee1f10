"""Removes whole attention and feed-forward blocks, one by one, each time the one without which the task's loss is smallest.

A layer that loses both keeps its two norms. At least one attention block of each kind stays: in an encoder–decoder, one encoder
self-attention, one decoder self-attention and one cross-attention.

Paper: He et al. 2024, What Matters in Transformers? Not All Attention is Needed (arXiv 2406.15786); here by the loss instead of
similarity, and counted over both kinds together.
Cost: the calibration batches forward, once for every remaining block and every removed block.
"""

from collections.abc import Sequence
from typing import Literal

from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.methods._layer_choice import mean_loss
from niwaki.methods._method import Context, Method, Requirements, Reshapes
from niwaki.models.edits.blocks import Blocks as BlocksEdit
from niwaki.models.edits.blocks import attention_kinds, gone, layers_with_block
from niwaki.models.forward import Batch
from niwaki.models.model import Model

Kind = Literal["attention", "ffn"]
Block = tuple[Kind, int]  # kind and layer
KINDS: tuple[Kind, ...] = ("attention", "ffn")


class Blocks(Method, Reshapes):
    keep: float = setting(0.75, "fraction of the blocks to keep", tune=(0.25, 0.5, 0.75), gt=0, lt=1)
    over: list[Kind] = setting(["attention", "ffn"], "kinds of blocks that may be removed", min_length=1)
    batches: int = setting(8, "calibration batches to measure the loss", ge=1)

    requires = Requirements(reduces=("file", "memory", "flops", "time"))

    def dry_prepare(self, model: Model) -> Model:
        """Calibration decides which blocks are removed; the skeleton loses the last ones."""
        count, taken = self._count(model), list[Block]()
        for one in reversed(self._there(model)):
            if len(taken) < count and may_go(model, [*taken, one]):
                taken.append(one)
        model.apply_edit(without(taken))
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        count, there = self._count(model), self._there(model)
        batches = list(context.calibration(model, self.batches))
        taken: list[Block] = []
        while len(taken) < count:
            left = [one for one in there if one not in taken and may_go(model, [*taken, one])]
            taken.append(min(left, key=lambda block: loss_without(model, [*taken, block], batches, context)))
        model.apply_edit(without(taken))
        return model

    def _there(self, model: Model) -> list[Block]:
        """The blocks of these kinds that the model has, attention first."""
        model.anatomy.require_layers("blocks")
        layers = {kind: layers_with_block(model.anatomy, kind) for kind in self.over}
        return [
            (kind, number)
            for kind in KINDS
            if kind in self.over
            for number in range(len(layers[kind]))
            if number not in gone(layers[kind], kind)
        ]

    def _count(self, model: Model) -> int:
        """Number of blocks to remove; one attention block of each kind stays."""
        there, kinds = self._there(model), len(attention_kinds(model.anatomy))
        count, most = round((1 - self.keep) * len(there)), len(there) - kinds * ("attention" in self.over)
        if not 0 < count <= most:
            raise InputError(
                f"blocks: keep {self.keep:g} removes {count} of {len(there)} blocks, and 1 to {most} can be removed; choose another keep"
                if most
                else "blocks: the model has only one attention block, which must stay; leave 'blocks' out"
            )
        return count


def may_go(model: Model, blocks: Sequence[Block]) -> bool:
    """Whether an attention block of each kind stays without these."""
    out = {number for kind, number in blocks if kind == "attention"}
    out |= set(gone(layers_with_block(model.anatomy, "attention"), "attention"))
    return not any(set(kind) <= out for kind in attention_kinds(model.anatomy))


def without(blocks: Sequence[Block]) -> BlocksEdit:
    attention, ffn = (sorted(number for one, number in blocks if one == kind) for kind in KINDS)
    return BlocksEdit(attention=attention, ffn=ffn)


def loss_without(model: Model, blocks: Sequence[Block], batches: Sequence[Batch], context: Context) -> float:
    """The task's mean loss over the batches without these blocks."""
    small = model.clone()
    small.apply_edit(without(blocks))
    return mean_loss(small, batches, context)
