"""Re-initializes the last layers before fine-tuning, because they are specialized most on the pretraining task.

The dense layer of a head that reads the first token (BERT's pooler) is re-initialized too, as in the paper. Matrices are drawn from a normal
distribution with the config's standard deviation; biases become 0 and norm weights 1.
Paper: Zhang et al. 2021, Revisiting Few-sample BERT Fine-tuning (arXiv 2006.05987).
Cost: none; the new layers may need more epochs.
"""

import torch
from torch import nn

from niwaki.core.errors import InputError
from niwaki.core.seeds import derive
from niwaki.core.settings import setting
from niwaki.methods._method import Context, Method, Requirements, Reshapes
from niwaki.models.layer import Layer
from niwaki.models.model import Model
from niwaki.models.packed.int8 import Int8Linear
from niwaki.models.packed.store import StoredLinear

DEFAULT_STD = 0.02  # of configs that name none


class Reinit(Method, Reshapes):
    layers: int = setting(1, "number of last layers to re-initialize", ge=1)

    requires = Requirements(training=True)

    def dry_prepare(self, model: Model) -> Model:
        anatomy = model.anatomy
        anatomy.require_layers("reinit")
        if anatomy.is_seq2seq:
            raise InputError("reinit: it re-initializes encoders, and this model generates text; leave 'reinit' out")
        if self.layers >= len(anatomy.layers):
            raise InputError(
                f"reinit: layers is {self.layers}; it must be less than the model's {len(anatomy.layers)} layers"
            )
        top, rest = (nn.ModuleList(layer.module for layer in part) for part in self._parts(model))
        if any(isinstance(module, Int8Linear | StoredLinear) for module in top.modules()):
            raise InputError("reinit: the weights of the last layers are packed; re-initialize before packing")
        if {id(one) for one in top.parameters()} & {id(one) for one in rest.parameters()}:
            raise InputError("reinit: lower layers share the weights of the last layers; leave 'reinit' out")
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        self.dry_prepare(model)
        config, head = model.network.config, model.anatomy.head
        std = getattr(config, "initializer_range", None) or getattr(config, "init_std", None) or DEFAULT_STD
        modules = [layer.module for layer in self._parts(model)[0]]
        modules += [model.network.get_submodule(path) for path in head.inner]
        generator = torch.Generator().manual_seed(derive(context.seed, "reinit"))
        for module in modules:
            reinitialize(module, float(std), generator)
        return model

    def _parts(self, model: Model) -> tuple[list[Layer], list[Layer]]:
        """The last layers, and those below."""
        layers = model.anatomy.layers
        return layers[-self.layers :], layers[: -self.layers]


@torch.no_grad()
def reinitialize(module: nn.Module, std: float, generator: torch.Generator) -> None:
    """Matrices from a normal distribution, biases 0, norm weights 1."""
    for name, parameter in module.named_parameters():
        if parameter.ndim > 1:
            parameter.normal_(0.0, std, generator=generator)
        else:
            parameter.fill_(0.0 if name.rpartition(".")[2] == "bias" else 1.0)
