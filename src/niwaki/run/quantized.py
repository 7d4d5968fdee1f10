"""Quantized copies of stages. Rounding weights takes seconds and no training, so a run tries it on every stage that answers the task,
and the report chooses among all of them.

A copy is a stage like any other: it has a key and is scored, raced and saved in its own folder. It starts from its stage and is made
with every seed. Stages whose matrices are packed already, and copies that the recipe itself contains, are skipped.
"""

from collections.abc import Callable, Iterator, Sequence

import torch

from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.methods._factory import make_method
from niwaki.methods._method import Bakes
from niwaki.models.model import Model
from niwaki.models.ties import unique_tensors
from niwaki.run.recipe_settings import Stage

COPY_METHODS: dict[str, Json] = {"int8": {"use": "int8"}, "4bit": {"use": "rtn", "bits": 4}}
Tensors = dict[str, tuple[tuple[int, ...], torch.dtype]]


def quantized_copies(source: str, shape: Model, kinds: Sequence[str], taken: Callable[[str], bool]) -> Iterator[Stage]:
    """Stages for the quantized copies of `source`, whose finished model is `shape`, that differ from it and from each other."""
    known = [tensors(shape)]
    whole = packed(shape, COPY_METHODS["int8"])
    if tensors(whole, matrices=True) == tensors(shape, matrices=True):
        return  # its matrices are packed already
    for kind in dict.fromkeys(kinds):
        try:
            found = tensors(whole if kind == "int8" else packed(shape, COPY_METHODS[kind]))
        except InputError:  # this network cannot be packed this way
            continue
        if found not in known:
            known.append(found)
            yield Stage(name=free_name(f"{source}-{kind}", taken), start=source, methods=[dict(COPY_METHODS[kind])])


def packed(shape: Model, method: Json) -> Model:
    quantization = make_method(method, "")
    assert isinstance(quantization, Bakes)
    return quantization.dry_finish(shape.clone())


def tensors(model: Model, matrices: bool = False) -> Tensors:
    """Name, shape and type of the tensors that a model stores, or only of its matrices."""
    stored = {name: (tuple(value.shape), value.dtype) for name, value in unique_tensors(model.network).items()}
    paths = tuple(f"{path}." for path in model.anatomy.matrices())
    return {name: value for name, value in stored.items() if name.startswith(paths)} if matrices else stored


def free_name(name: str, taken: Callable[[str], bool]) -> str:
    """`name`, with a number appended if it is taken."""
    names = (name, *(f"{name}-{number}" for number in range(2, 1000)))
    return next(candidate for candidate in names if not taken(candidate))
