"""BitFit: trains the biases alone; all matrices and tables are frozen.

All biases, or those of the query matrix and of the first feed-forward matrix alone. Packed weights keep their biases as floats, so these can be
trained too.

Paper: Ben Zaken, Ravfogel, Goldberg 2021, BitFit: Simple Parameter-efficient Fine-tuning (arXiv 2106.10199).
Cost: none; the finished model is as large and as fast as before.
"""

from typing import Literal

from pydantic import PrivateAttr
from torch import nn

from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.methods._method import Bakes, Context, Method, Requirements, Reshapes
from niwaki.methods.adapt._tuning import released, train_only
from niwaki.models.model import Model

PARTIAL = ("query", "ffn_in")  # the paper calls their biases b_q and b_m2
SUFFIX = "bias"


class Bitfit(Method, Reshapes, Bakes):
    biases: Literal["all", "partial"] = setting(
        "all", "partial trains the biases of the query matrix and of the first feed-forward matrix"
    )
    pooler: bool = setting(False, "train the matrices that pool a sequence inside the trunk too (the pooler of BERT)")

    requires = Requirements(training=True, pins_modules=True)

    _stored: list[nn.Module] = PrivateAttr(
        default_factory=list
    )  # packed ones, whose biases are no parameters otherwise

    def dry_prepare(self, model: Model) -> Model:
        model.anatomy.require_layers("bitfit")
        if not self._modules(model):
            which = "biases" if self.biases == "all" else "biases of these matrices"
            raise InputError(f"bitfit: this model has no {which} to train; use 'lora' or 'ia3'")
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        modules = self._modules(self.dry_prepare(model))
        self._stored = [module for module in modules if module._buffers.get(SUFFIX) is not None]
        for module in self._stored:
            make_trainable(module)
        chosen = {id(module.get_parameter(SUFFIX)) for module in modules}
        names = {name for name, one in model.network.named_parameters() if id(one) in chosen}
        train_only(model, names.__contains__, self.pooler)
        return model

    def _modules(self, model: Model) -> list[nn.Module]:
        """The modules of the trunk whose biases are trained."""
        if self.biases == "partial":
            parts = [layer.part(role) for layer in model.anatomy.every_layer for role in PARTIAL if layer.path(role)]
            return [module for part in parts for module in part.modules() if has_bias(module)]
        body = model.network if model.anatomy.is_seq2seq else model.anatomy.trunk
        pooler = {id(module) for name, module in body.named_modules() if "pooler" in name.split(".")}
        return [module for module in body.modules() if has_bias(module) and id(module) not in pooler]

    def dry_finish(self, model: Model) -> Model:
        return model

    def finish(self, model: Model) -> Model:
        for module in self._stored:
            make_constant(module)
        return released(model)


def has_bias(module: nn.Module) -> bool:
    """Whether it has a bias of its own, trainable or stored next to packed weights."""
    return module._parameters.get(SUFFIX) is not None or module._buffers.get(SUFFIX) is not None


def make_trainable(module: nn.Module) -> None:
    """Turns a bias that is stored as a buffer, next to packed weights, into a parameter of the same name."""
    if (stored := module._buffers.pop(SUFFIX, None)) is not None:
        module.register_parameter(SUFFIX, nn.Parameter(stored))


def make_constant(module: nn.Module) -> None:
    """Undoes `make_trainable`."""
    value = module.get_parameter(SUFFIX).detach()
    del module._parameters[SUFFIX]
    module.register_buffer(SUFFIX, value)
