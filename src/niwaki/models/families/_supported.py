"""Variants of a family that its parts do not compute are rejected by their configs."""

from niwaki.core.errors import InputError
from niwaki.models.family import Config


def reject_variants(config: Config, supported: Config, what: str) -> None:
    """Raises for the first key whose value is not the supported one; a missing or null value is the family's usual one."""
    for key, value in supported.items():
        if config.get(key, value) not in (value, None):
            raise InputError(f"config: {what} with {key} = {config[key]} is not supported; take one with {value}")
