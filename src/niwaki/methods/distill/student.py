"""A smaller network of the same family: cut out of the start model, or fresh with random weights.

Paper: slicing as in Xu et al. 2024, Initializing Models with Larger Ones (arXiv 2311.18823), here by importance; fresh as in TinyBERT.
Cost: a few calibration batches forward and backward.
"""

from typing import ClassVar, Literal

import torch

from niwaki.core.errors import Refused
from niwaki.core.seeds import derive
from niwaki.core.settings import setting
from niwaki.methods._choosing import all_differ, loss_with, missed_most, spread
from niwaki.methods._method import Context, Method, Moment
from niwaki.models.anatomy import Anatomy
from niwaki.models.edits.ffn import Ffn
from niwaki.models.edits.heads import Heads
from niwaki.models.edits.layers import Layers
from niwaki.models.edits.width import Width
from niwaki.models.importance import importance, most_important
from niwaki.models.model import Model
from niwaki.models.skeleton import build


class Student(Method):
    layers: int | None = setting(None, "layers of the student; none keeps all", ge=1)
    hidden: int | None = setting(None, "width of its hidden states; none keeps it", ge=1)
    heads: int | None = setting(
        None, "attention heads a layer; none keeps their width and takes as many as fit `hidden`", ge=1
    )
    ffn: int | None = setting(None, "neurons of each feed-forward block; none keeps their ratio to `hidden`", ge=1)
    start: Literal["slice", "fresh"] = setting("slice", "cut from the start model, or random weights in the new shape")
    choose: Literal["spread", "importance"] = setting(
        "spread", "which layers are kept: evenly spread with the last, or those that the task's loss misses most"
    )
    batches: int = setting(8, "calibration batches that tell what is important", ge=1)

    saves: ClassVar[tuple[str, ...]] = ("file", "memory", "flops", "time")

    @property
    def forgets(self) -> bool:
        return self.start == "fresh"

    def prepare(self, model: Model, context: Context) -> Model:
        shape = self.shape(model)
        if self.start == "fresh":
            return fresh(model, shape, context.seed)
        if shape["layers"] < len(model.anatomy.order):
            model.operate(Layers(keep=self._layers(model, shape["layers"], context)))
        anatomy, narrower = model.anatomy, shape["hidden"] < model.anatomy.width
        neurons, heads = self._neurons(anatomy), self._heads(anatomy)
        fewer_neurons = neurons != [block.neurons for block in anatomy.blocks]
        fewer_heads = heads != [layer.heads for layer in anatomy.attentions]
        if not (narrower or fewer_neurons or fewer_heads):
            return model
        worth = importance(model, context.calibration(model, self.batches), context.loss)
        if fewer_neurons:
            model.operate(Ffn(keep=[most_important(*each) for each in zip(worth.neurons, neurons, strict=True)]))
        if fewer_heads:
            model.operate(Heads(keep=[most_important(*each) for each in zip(worth.heads, heads, strict=True)]))
        if narrower:
            model.operate(Width(keep=most_important(worth.width, shape["hidden"])))
        return model

    def rehearse(self, model: Model, moment: Moment) -> Model:
        if moment == "finish":
            return model
        shape = self.shape(model)
        if self.start == "fresh":
            with torch.device("meta"):
                return fresh(model, shape, seed=0)
        model.operate(Layers(keep=spread(len(model.anatomy.order), shape["layers"])))
        neurons, heads = self._neurons(model.anatomy), self._heads(model.anatomy)
        model.operate(Ffn(keep=list(neurons)))
        model.operate(Heads(keep=list(heads)))
        model.operate(Width(keep=shape["hidden"]))
        return model

    def _neurons(self, anatomy: Anatomy) -> list[int]:
        """Of each block of the student: those that are there are at most as many as asked for."""
        return [self._kept(anatomy, block.neurons, self.ffn) for block in anatomy.blocks]

    def _heads(self, anatomy: Anatomy) -> list[int]:
        return [self._kept(anatomy, layer.heads, self.heads) for layer in anatomy.attentions]

    def _kept(self, anatomy: Anatomy, have: int, given: int | None) -> int:
        return min(have, given) if given else max(1, (self.hidden or anatomy.width) * have // anatomy.width)

    def _layers(self, model: Model, count: int, context: Context) -> list[int]:
        depth = len(model.anatomy.order)
        if self.choose == "spread" or not all_differ(model):
            return spread(depth, count)
        batches = list(context.calibration(model, self.batches))
        return missed_most(depth, count, lambda keep: loss_with(model, Layers(keep=keep), batches, context))

    def shape(self, model: Model) -> dict[str, int]:
        """All four numbers, of the largest layer where they differ, the ones not given derived from the parent; Refused where they
        do not fit it."""
        anatomy = model.anatomy
        anatomy.require_layers("student")
        heads, neurons = max(layer.heads for layer in anatomy.layers), max(layer.neurons for layer in anatomy.layers)
        hidden = self.hidden or anatomy.width
        wanted = {
            "layers": self.layers or len(anatomy.order),
            "hidden": hidden,
            "heads": self.heads or max(1, hidden * heads // anatomy.width),
            "ffn": self.ffn or max(1, hidden * neurons // anatomy.width),
        }
        if self.start == "fresh":
            if hidden % wanted["heads"]:
                raise Refused(f"student: hidden {hidden} is not a multiple of heads {wanted['heads']}")
            return wanted
        have = {"layers": len(anatomy.order), "hidden": anatomy.width, "heads": heads, "ffn": neurons}
        faults = [
            f"student: {key} {wanted[key]} is more than the start model's {have[key]}; cut less, or start = 'fresh'"
            for key in wanted
            if wanted[key] > have[key]
        ]
        if faults:
            raise Refused(faults)
        return wanted


def fresh(model: Model, shape: dict[str, int], seed: int) -> Model:
    """A stock network of the shape, of the same family, tokenizer and labels, initialized from `seed`."""
    anatomy = model.anatomy
    config = {
        **model.network.config.to_dict(),
        **anatomy.shape(shape["layers"], shape["hidden"], shape["heads"], shape["ffn"]),
        "niwaki_exits": None,  # of other layers
    }
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive(seed, "fresh"))
        return Model(build(config), model.tokenizer, beside=model.beside)
