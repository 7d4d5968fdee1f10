"""Cuts a network that `supernet` has trained to one of its shapes: evenly spaced layers, and the most important heads and neurons.

Nothing is trained or measured, so a shape takes seconds. Train it further in the same stage if time is left.

Paper: Hou et al. 2020, DynaBERT: Dynamic BERT with Adaptive Width and Depth (arXiv 2004.04037).
Cost: none beyond the cut.
"""

from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.methods._method import Context, Method, Requirements, Reshapes
from niwaki.methods.prune._shapes import Shape, cut
from niwaki.models.head_order import Order, head_order
from niwaki.models.model import Model


class Subnet(Method, Reshapes):
    layers: int | None = setting(None, "number of layers to keep; all by default", tune="layers", ge=1)
    heads: float = setting(
        0.5, "fraction of the heads to keep in each layer, at least one", tune=(0.25, 0.5, 0.75, 1.0), gt=0, le=1
    )
    ffn: float = setting(
        0.5, "fraction of the neurons to keep in each layer, at least one", tune=(0.25, 0.5, 0.75, 1.0), gt=0, le=1
    )

    requires = Requirements(reduces=("file", "memory", "flops", "time"))

    def dry_prepare(self, model: Model) -> Model:
        anatomy = model.anatomy
        anatomy.require_layers("subnet")
        order = self.order(model)
        if self.layers and self.layers > len(anatomy.order):
            raise InputError(f"subnet: layers is {self.layers} and there are {len(anatomy.order)}; lower it")
        cut(model, Shape(self.layers or len(anatomy.order), self.heads, self.ffn), order)
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        return self.dry_prepare(model)

    def order(self, model: Model) -> Order:
        found, sizes = head_order(model.network), [layer.heads for layer in model.anatomy.attentions]
        if found is None or [len(heads) for heads in found] != sizes:
            raise InputError(
                "subnet: the network was not trained by 'supernet', or was cut since; use 'supernet' in the stage before"
            )
        return found
