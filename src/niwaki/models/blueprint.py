"""The blueprint: the ordered structural edits that lie between a stock skeleton and this network. Plain JSON.

A network that a stock skeleton of its own config can hold has an empty blueprint, and plain transformers can load it, if it
has the family.
"""

from dataclasses import dataclass, field

import torch

from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.core.settings import check
from niwaki.models.anatomy import Network, anatomy_of
from niwaki.models.edit import EDITS, Edit
from niwaki.models.meta_device import without_meta_initialization
from niwaki.models.sizes import constants
from niwaki.models.skeleton import build, shape_of
from niwaki.models.ties import first_names

VERSION = 1
MAX_EDITS = 200
STOCK_TYPES = (torch.float32, torch.int64)  # of a network that transformers makes
MOST_CUTS = 4000  # edits times layers: each takes some milliseconds


@dataclass
class Blueprint:
    base: Json = field(default_factory=dict)  # the config of the stock skeleton the edits start from
    edits: list[Edit] = field(default_factory=list)

    def to_json(self) -> Json:
        edits = [{"edit": edit.label(), **edit.for_blueprint().model_dump()} for edit in self.edits]
        return {"version": VERSION, "base": self.base, "edits": edits}

    @classmethod
    def from_json(cls, value: object) -> "Blueprint":
        if (
            not isinstance(value, dict)
            or not isinstance(value.get("edits"), list)
            or not isinstance(value.get("base"), dict)
        ):
            raise InputError("blueprint.json: must hold 'version', 'base' and 'edits'")
        if value.get("version") != VERSION:
            raise InputError(
                f"blueprint.json: version {str(value.get('version'))[:20]!r} is not known, this niwaki reads {VERSION}"
            )
        if len(value["edits"]) > MAX_EDITS:
            raise InputError(f"blueprint.json: more than {MAX_EDITS} edits")
        return cls(value["base"], [_read_edit(number, edit) for number, edit in enumerate(value["edits"])])

    def replay(self) -> Network:
        """A skeleton of the final shape; its weights are still to be loaded, no memory is taken for them before."""
        from accelerate import init_empty_weights

        with init_empty_weights(), without_meta_initialization():
            network = build(self.base)
        if len(self.edits) * len(anatomy_of(network).layers) > MOST_CUTS:
            raise InputError(f"blueprint.json: {len(self.edits)} edits of so many layers are more than any model has")
        for edit in self.edits:
            edit.apply(network, anatomy_of(network))
        return network


def _read_edit(number: int, value: object) -> Edit:
    path = f"blueprint.json: edits.{number}"
    if not isinstance(value, dict) or not isinstance(value.get("edit"), str):
        raise InputError(f"{path}: must be a table with the key 'edit'")
    kind: type[Edit] = EDITS.load(value["edit"], Edit)
    return check(kind, {key: item for key, item in value.items() if key != "edit"}, path)


def is_stock(network: Network) -> bool:
    """Whether a skeleton made from the network's own config has the same tensors, in the same shapes, for the same heads."""
    if any(value.dtype not in STOCK_TYPES for value in network.state_dict().values()):  # packed
        return False
    try:
        skeleton = shape_of(network.config.to_dict())
    except InputError:  # a shape that no stock network can have, such as a width that its heads do not divide
        return False
    same = _shapes(skeleton) == _shapes(network) and constants(anatomy_of(skeleton)) == constants(anatomy_of(network))
    return same and first_names(skeleton) == first_names(network)


def _shapes(network: Network) -> dict[str, tuple[torch.Size, torch.dtype]]:
    return {name: (value.shape, value.dtype) for name, value in network.state_dict().items()}
