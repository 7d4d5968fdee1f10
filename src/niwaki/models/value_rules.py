"""What the values of a config may be: one function for each kind of value. No torch here."""

import re
from collections.abc import Callable, Sequence
from functools import cache

from niwaki.models.family import FAMILIES, Family

MAX_LABELS = 100_000
MOST_LAYERS, MOST_POSITIONS, MOST_TOKENS = 200, 1 << 20, 10_000_000
MOST_HEADS = 4096
WIDEST = 1 << 17
NO_POSITIONS = 512  # tokens of a text, for a model that has no table of positions
ACTIVATIONS = {
    "gelu",
    "gelu_10",
    "gelu_fast",
    "gelu_new",
    "gelu_python",
    "gelu_pytorch_tanh",
    "gelu_python_tanh",
    "gelu_accurate",
    "laplace",
    "leaky_relu",
    "linear",
    "mish",
    "quick_gelu",
    "relu",
    "relu2",
    "relu6",
    "sigmoid",
    "silu",
    "swish",
    "tanh",
}
PROBLEMS = {"regression", "single_label_classification", "multi_label_classification"}
CONTROL = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

Rule = Callable[[object], bool]


def whole(most: int, least: int = 0) -> Rule:
    return lambda value: type(value) is int and least <= value <= most


def share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def image_sides(value: object) -> bool:
    """Pixels of the sides of an image: one number, or height and width."""
    side = whole(4096, 1)
    return side(value) or (isinstance(value, list | tuple) and len(value) == 2 and all(map(side, value)))


def sides(value: int | Sequence[int]) -> tuple[int, int]:
    """Height and width of an image or a patch, which a config states as one number if they are equal."""
    high, wide = (value, value) if isinstance(value, int) else value
    return high, wide


def positive(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= 1e12


def rotary(value: object) -> bool:
    """Settings of rotary positions (`rotary.check_rotary`): a flat table, or one for each type of layer."""
    if not isinstance(value, dict) or len(value) > 20 or not all(isinstance(key, str) for key in value):
        return False
    return all(
        rotary_setting(item) or (isinstance(item, dict) and len(item) <= 20 and all(map(rotary_setting, item.values())))
        for item in value.values()
    )


def rotary_setting(value: object) -> bool:
    return value is None or positive(value) or (isinstance(value, str) and value.isidentifier() and len(value) < 40)


def layer_types(value: object) -> bool:
    """How each layer attends."""
    return (
        isinstance(value, list)
        and 1 <= len(value) <= MOST_LAYERS
        and all(item in ("full_attention", "sliding_attention") for item in value)
    )


def flag(value: object) -> bool:
    return isinstance(value, bool)


def one_of(*words: str) -> Rule:
    return lambda value: isinstance(value, str) and value in words


def names(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) <= 20
        and all(isinstance(item, str) and item.isidentifier() for item in value)
    )


def labels(value: object) -> bool:
    return (
        isinstance(value, dict)
        and len(value) <= MAX_LABELS
        and all(is_label(item) and len(str(number)) < 9 for number, item in value.items())
    )


def label_numbers(value: object) -> bool:
    return (
        isinstance(value, dict)
        and len(value) <= MAX_LABELS
        and all(map(is_label, value))
        and all(isinstance(item, int) for item in value.values())
    )


def is_label(value: object) -> bool:
    """A name that is shown to people as it is: nothing in it may steer a terminal or turn the line around."""
    return isinstance(value, str | int | float) and len(str(value)) <= 1000 and not CONTROL.search(str(value))


def filter_widths(value: object) -> bool:
    return isinstance(value, list) and 1 <= len(value) <= 20 and all(map(whole(100, 1), value))


def tokenizer_class(value: object) -> bool:
    return isinstance(value, str) and value in tokenizer_classes()


@cache
def tokenizer_classes() -> set[str]:
    """Classes of transformers around a tokenizer.json, none with code of its own kind of files."""
    families = [FAMILIES.load(name, Family) for name in FAMILIES.names()]
    known = {"PreTrained", *(name for family in families for name in family.tokenizers)}
    return {f"{name}Tokenizer{ending}" for name in known for ending in ("", "Fast")} | {"TokenizersBackend"}


def exits(value: object) -> bool:
    return (
        isinstance(value, list)
        and 1 <= len(value) <= 15
        and all(map(whole(MOST_LAYERS, 1), value))
        and value == sorted(set(value))
    )


def head_order(value: object) -> bool:
    """For each layer a permutation of its heads."""
    return isinstance(value, list) and 1 <= len(value) <= MOST_LAYERS and all(map(_is_permutation, value))


def _is_permutation(value: object) -> bool:
    if not isinstance(value, list) or not 1 <= len(value) <= MOST_HEADS or not all(map(whole(MOST_HEADS), value)):
        return False
    return sorted(value) == list(range(len(value)))


def answer(value: object) -> bool:
    """How logits are read (`niwaki.answers` checks the fields): flat, a few plain values, or ids."""
    return (
        isinstance(value, dict)
        and len(value) <= 20
        and all(
            isinstance(item, str | int | float | bool | None) or (isinstance(item, list) and mark(item))
            for item in value.values()
        )
    )


def mark(value: object) -> bool:
    """An id is a number, or, for some models, several."""
    several = isinstance(value, list) and len(value) <= 20 and all(map(whole(MOST_TOKENS), value))
    return whole(MOST_TOKENS, -1)(value) or several
