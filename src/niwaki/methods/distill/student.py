"""A smaller network of the same family: cut from the start model, or new with random weights.

Paper: slicing as in Xu et al. 2024, Initializing Models with Larger Ones (arXiv 2311.18823), here by importance; fresh as in TinyBERT.
Cost: a few calibration batches forward and backward.
"""

from typing import Literal

import torch

from niwaki.core.errors import InputError
from niwaki.core.seeds import derive
from niwaki.core.settings import setting
from niwaki.methods._layer_choice import evenly_spaced, greedy_by_loss, has_distinct_layers, loss_after_edit
from niwaki.methods._method import Context, Method, Requirements, Reshapes
from niwaki.models.anatomy import Anatomy
from niwaki.models.edits.ffn import Ffn
from niwaki.models.edits.heads import Heads
from niwaki.models.edits.hidden_size import HiddenSize
from niwaki.models.edits.layers import Layers
from niwaki.models.importance import importance, most_important
from niwaki.models.meta_device import on_meta_device
from niwaki.models.model import Model
from niwaki.models.sizes import config_sizes
from niwaki.models.skeleton import build


class Student(Method, Reshapes):
    layers: int | None = setting(None, "layers of the student; default: all", tune="layers", ge=1)
    hidden: int | None = setting(None, "hidden size; default: the start model's", tune="hidden", ge=1)
    heads: int | None = setting(
        None, "attention heads per layer; default: as many as fit `hidden` with the same head size", tune="heads", ge=1
    )
    ffn: int | None = setting(None, "feed-forward size; default: the same ratio to `hidden`", tune="ffn", ge=1)
    start: Literal["slice", "fresh"] = setting("slice", "cut from the start model, or random weights in the new shape")
    choose: Literal["spread", "importance"] = setting(
        "spread", "which layers stay: evenly spaced ones with the last, or those whose removal increases the loss most"
    )
    batches: int = setting(8, "calibration batches to estimate importance", ge=1)

    requires = Requirements(reduces=("file", "memory", "flops", "time"))

    @property
    def resets_head(self) -> bool:
        return self.start == "fresh"

    def prepare(self, model: Model, context: Context) -> Model:
        shape = self.shape(model)
        if self.start == "fresh":
            return fresh(model, shape, context.seed)
        if shape["layers"] < len(model.anatomy.order):
            model.apply_edit(Layers(keep=self._layers(model, shape["layers"], context)))
        anatomy, narrower = model.anatomy, shape["hidden"] < model.anatomy.hidden_size
        neurons, heads = self._neurons(anatomy), self._heads(anatomy)
        fewer_neurons = neurons != [block.ffn_size for block in anatomy.blocks]
        fewer_heads = heads != [layer.heads for layer in anatomy.attentions]
        if not (narrower or fewer_neurons or fewer_heads):
            return model
        worth = importance(model, context.calibration(model, self.batches), context.loss)
        if fewer_neurons:
            model.apply_edit(Ffn(keep=[most_important(*each) for each in zip(worth.neurons, neurons, strict=True)]))
        if fewer_heads:
            model.apply_edit(Heads(keep=[most_important(*each) for each in zip(worth.heads, heads, strict=True)]))
        if narrower:
            model.apply_edit(HiddenSize(keep=most_important(worth.width, shape["hidden"])))
        return model

    def dry_prepare(self, model: Model) -> Model:
        shape = self.shape(model)
        if self.start == "fresh":
            with on_meta_device():
                return fresh(model, shape, seed=0)
        model.apply_edit(Layers(keep=evenly_spaced(len(model.anatomy.order), shape["layers"])))
        neurons, heads = self._neurons(model.anatomy), self._heads(model.anatomy)
        model.apply_edit(Ffn(keep=list(neurons)))
        model.apply_edit(Heads(keep=list(heads)))
        model.apply_edit(HiddenSize(keep=shape["hidden"]))
        return model

    def _neurons(self, anatomy: Anatomy) -> list[int]:
        """Neurons of each feed-forward block of the student."""
        return [self._remaining(anatomy, block.ffn_size, self.ffn) for block in anatomy.blocks]

    def _heads(self, anatomy: Anatomy) -> list[int]:
        return [self._remaining(anatomy, layer.heads, self.heads) for layer in anatomy.attentions]

    def _remaining(self, anatomy: Anatomy, have: int, given: int | None) -> int:
        return min(have, given) if given else max(1, (self.hidden or anatomy.hidden_size) * have // anatomy.hidden_size)

    def _layers(self, model: Model, count: int, context: Context) -> list[int]:
        depth = len(model.anatomy.order)
        if self.choose == "spread" or not has_distinct_layers(model):
            return evenly_spaced(depth, count)
        batches = list(context.calibration(model, self.batches))
        return greedy_by_loss(depth, count, lambda keep: loss_after_edit(model, Layers(keep=keep), batches, context))

    def shape(self, model: Model) -> dict[str, int]:
        """Layers, hidden size, heads and feed-forward size (of the largest layer if they differ); what is not set follows from the
        start model. Raises InputError if the start model is too small."""
        anatomy = model.anatomy
        anatomy.require_layers("student")
        heads, neurons = max(layer.heads for layer in anatomy.layers), max(layer.ffn_size for layer in anatomy.layers)
        hidden = self.hidden or anatomy.hidden_size
        wanted = {
            "layers": self.layers or len(anatomy.order),
            "hidden": hidden,
            "heads": self.heads or max(1, hidden * heads // anatomy.hidden_size),
            "ffn": self.ffn or max(1, hidden * neurons // anatomy.hidden_size),
        }
        if self.start == "fresh":
            if not anatomy.family.keys.ffn_size:
                raise InputError(
                    f"student: a new network of family '{anatomy.network.config.model_type}' has feed-forward blocks of a fixed size; "
                    "take start = 'slice'"
                )
            if hidden % wanted["heads"]:
                raise InputError(f"student: hidden {hidden} is not a multiple of heads {wanted['heads']}")
            return wanted
        have = {"layers": len(anatomy.order), "hidden": anatomy.hidden_size, "heads": heads, "ffn": neurons}
        faults = [
            f"student: {key} {wanted[key]} is more than the start model's {have[key]}; cut less, or start = 'fresh'"
            for key in wanted
            if wanted[key] > have[key]
        ]
        if faults:
            raise InputError(faults)
        return wanted


def fresh(model: Model, shape: dict[str, int], seed: int) -> Model:
    """A network of this shape with random weights from `seed`; family, tokenizer and labels stay."""
    anatomy = model.anatomy
    config = {
        **model.network.config.to_dict(),
        **config_sizes(anatomy, shape["layers"], shape["hidden"], shape["heads"], shape["ffn"]),
        "niwaki_exits": None,  # of other layers
        "niwaki_head_order": None,
    }
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive(seed, "fresh"))
        return Model(build(config), model.tokenizer, sibling_files=model.sibling_files)
