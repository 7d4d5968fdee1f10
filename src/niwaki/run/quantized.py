"""Training-free quantized copies of stages. Rounding weights costs seconds and no training, so a run tries it on every stage that
answers the task, and the report chooses among all of them.

A copy is a stage like any other: it has a key, is made once, scored, raced and saved in a folder of its own. It starts from its stage
and is made with every seed. No copy is planned of a stage whose matrices are packed already, nor one that the recipe
already has under another name.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from niwaki.core.errors import InputError
from niwaki.methods._factory import make_method
from niwaki.methods._method import Bakes
from niwaki.models.model import Model
from niwaki.models.ties import unique_tensors
from niwaki.run.recipe_settings import Stage

COPY_METHODS: dict[str, dict[str, Any]] = {"int8": {"use": "int8"}, "4bit": {"use": "rtn", "bits": 4}}
Tensors = dict[str, tuple[Any, ...]]


def quantized_copies(source: str, shape: Model, kinds: Sequence[str], taken: Callable[[str], bool]) -> Iterator[Stage]:
    """The copies of one stage, whose finished model has this shape, that differ from it and from each other."""
    known = [tensors(shape)]
    whole = packed(shape, COPY_METHODS["int8"])
    if tensors(whole, matrices=True) == tensors(shape, matrices=True):
        return  # its matrices are packed already
    for kind in dict.fromkeys(kinds):
        try:
            found = tensors(whole if kind == "int8" else packed(shape, COPY_METHODS[kind]))
        except InputError:  # this network cannot be packed so
            continue
        if found not in known:
            known.append(found)
            yield Stage(name=free_name(f"{source}-{kind}", taken), start=source, methods=[dict(COPY_METHODS[kind])])


def packed(shape: Model, method: dict[str, Any]) -> Model:
    quantization = make_method(method, "")
    assert isinstance(quantization, Bakes)
    return quantization.dry_finish(shape.clone())


def tensors(model: Model, matrices: bool = False) -> Tensors:
    """Name, shape and type of all that a model stores, or of its matrices alone."""
    found = {name: (tuple(value.shape), value.dtype) for name, value in unique_tensors(model.network).items()}
    paths = tuple(f"{path}." for path in model.anatomy.matrices())
    return {name: form for name, form in found.items() if name.startswith(paths)} if matrices else found


def free_name(name: str, taken: Callable[[str], bool]) -> str:
    """`name`, or with a number behind it where the recipe uses it for something else."""
    names = (name, *(f"{name}-{number}" for number in range(2, 1000)))
    return next(one for one in names if not taken(one))
