"""What the methods of parameter-efficient tuning share: only few parameters and the head are trained, the trunk stays as it is."""

from collections.abc import Callable

from torch import nn

from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.methods._method import Bakes, Context, Method, Requirements, Reshapes
from niwaki.models.deltas._delta import Tuned, tuned_paths
from niwaki.models.edits.merge_deltas import MergeDeltas
from niwaki.models.model import Model
from niwaki.models.trunk import is_of_delta


class Tuning(Method, Reshapes, Bakes):
    """Base of the methods that add deltas. They define `add`."""

    pooler: bool = setting(False, "train the matrices that pool a sequence inside the trunk too (the pooler of BERT)")

    requires = Requirements(training=True, pins_modules=True, adds_parameters=True)

    def add(self, model: Model, seed: int) -> None:
        """Add the deltas to the model, or raise InputError. The model may be a skeleton."""
        raise NotImplementedError

    def dry_prepare(self, model: Model) -> Model:
        self.add(model, 0)
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        self.add(model, context.seed)
        train_only(model, is_of_delta, self.pooler)
        return model

    def dry_finish(self, model: Model) -> Model:
        return model

    def finish(self, model: Model) -> Model:
        return released(model)


class MergeableTuning(Tuning):
    """Base of the methods whose deltas can be merged into the matrices."""

    merge: bool = setting(
        True,
        "merge the delta into the weights when the stage ends; off keeps it, for packed weights and for heads that share a trunk",
    )

    requires = Requirements(training=True, pins_modules=True)

    def dry_finish(self, model: Model) -> Model:
        if not self.merge:
            return model
        for path in tuned_paths(model.network):
            reject_packed(self.label(), path, model.network.get_submodule(path))
        model.apply_edit(MergeDeltas())
        return model

    def finish(self, model: Model) -> Model:
        return released(self.dry_finish(model))


def train_only(model: Model, chosen: Callable[[str], bool], pooler: bool) -> None:
    """Freeze all parameters but the chosen ones and those of the head. Of a network that generates text, the head is part of the trunk."""
    anatomy, body = model.anatomy, f"{model.anatomy.family.body}."
    for name, parameter in model.network.named_parameters():
        of_head = not anatomy.is_seq2seq and (not name.startswith(body) or (pooler and ".pooler." in name))
        parameter.requires_grad_(of_head or chosen(name))


def released(model: Model) -> Model:
    """The model with all parameters trainable, as stages leave it."""
    for parameter in model.network.parameters():
        parameter.requires_grad_(True)
    return model


def reject_packed(method: str, path: str, module: nn.Module) -> None:
    """Raise InputError if a matrix cannot take up its delta without being rounded."""
    while isinstance(module, Tuned):
        module = module.base
    if not isinstance(module, nn.Linear):
        raise InputError(
            f"{method}: '{path}' is stored as {type(module).__name__}, and merging would round the delta with it; set merge = false"
        )
