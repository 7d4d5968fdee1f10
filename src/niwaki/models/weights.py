"""Checks a folder's weights as loading would, without loading them: tensors are on the meta device, where they take no memory."""

from pathlib import Path

import torch

from niwaki.core import strict_json
from niwaki.core.finite import check_finite
from niwaki.core.shards import shard_files, stored_tensors
from niwaki.core.tensor_file import Header, read_header
from niwaki.models.blueprint import Blueprint
from niwaki.models.config_rules import MAX_BYTES
from niwaki.models.family import family_of
from niwaki.models.head import Head
from niwaki.models.model import BLUEPRINT, check_tensors
from niwaki.models.progress import without_load_warnings
from niwaki.models.skeleton import CONDITIONAL_GENERATION, IMAGE_CLASSIFICATION, checked_config, read_config
from niwaki.models.stock import WEIGHTS, stock_network

TYPES = {
    "BOOL": torch.bool,
    "U8": torch.uint8,
    "I8": torch.int8,
    "F8_E5M2": torch.float8_e5m2,
    "F8_E4M3": torch.float8_e4m3fn,
    "I16": torch.int16,
    "U16": torch.uint16,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "I32": torch.int32,
    "U32": torch.uint32,
    "F32": torch.float32,
    "F64": torch.float64,
    "I64": torch.int64,
    "U64": torch.uint64,
}
PLACEHOLDER_HEADS = {  # by what a network reads; they stand for the task's
    "texts": Head(["0", "1"], CONDITIONAL_GENERATION),  # an encoder gets the head for whole texts in its place
    "images": Head(["0", "1"], IMAGE_CLASSIFICATION),
}


def check_weights(folder: Path) -> None:
    """Rejects weights that are cut short, hold NaN or infinity, or are not those of the network that config.json and
    blueprint.json describe. A stock folder may lack the tensors of a head, which a task brings."""
    found = stored_tensors(folder)
    for path in shard_files(folder):
        check_finite(path, read_header(path))
    config = read_config(folder)
    if not (folder / BLUEPRINT).exists():
        head = PLACEHOLDER_HEADS[family_of(str(config["model_type"])).inputs.reads]
        with without_load_warnings():
            stock_network(folder, head.on(config), found, lambda: tensors_of(found), new_head=True, device_map="meta")
        return
    blueprint = Blueprint.from_json(strict_json.load(folder / BLUEPRINT, MAX_BYTES))
    blueprint.base = checked_config(blueprint.base, str(folder / BLUEPRINT))
    check_tensors(blueprint.replay(), folder / WEIGHTS, tensors_of(found))


def tensors_of(found: Header) -> dict[str, torch.Tensor]:
    """The tensors of a file, without their numbers."""
    return {
        name: torch.empty(tensor.shape, dtype=TYPES[tensor.dtype], device="meta")
        for name, tensor in found.tensors.items()
    }
