"""Activation functions by name, whatever class or function a family stores."""

from torch import nn

NAMES = {
    "GELUActivation": "gelu",
    "GELU": "gelu",
    "NewGELUActivation": "gelu_tanh",
    "FastGELUActivation": "gelu_tanh",
    "GELUTanh": "gelu_tanh",
    "PytorchGELUTanh": "gelu_tanh",
    "ReLU": "relu",
    "Tanh": "tanh",
    "SiLU": "silu",
    "SiLUActivation": "silu",
}  # of classes and functions
MODULES: dict[str, nn.Module] = {
    "gelu": nn.GELU(),
    "gelu_tanh": nn.GELU(approximate="tanh"),
    "relu": nn.ReLU(),
    "tanh": nn.Tanh(),
    "silu": nn.SiLU(),
}


def activation_name(module: object) -> str | None:
    """The name of an activation function; None for one that is not known."""
    name = getattr(module, "__name__", type(module).__name__)  # some families store a function
    if isinstance(module, nn.GELU) and module.approximate == "tanh":
        name = "GELUTanh"
    found = NAMES.get(name, name)
    return found if found in MODULES else None
