"""Strict settings: each field is declared once with its description; all faults are reported at once, each with its path."""

from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator
from pydantic.config import JsonDict

from niwaki.core.errors import InputError, did_you_mean
from niwaki.core.json_types import Json

MOST = 10**9  # of a number without a limit of its own: no count of rows, layers, steps or bytes of a recipe is larger
SomeSettings = TypeVar("SomeSettings", bound="Settings")


class Settings(BaseModel):
    """Base of all that a user can write into a recipe. Unknown keys are faults; numbers must be finite."""

    model_config = ConfigDict(extra="forbid", strict=False, allow_inf_nan=False, protected_namespaces=())

    @field_validator("*")
    @classmethod
    def _sensible(cls, value: Any, about: ValidationInfo) -> Any:
        if type(value) in (int, float) and abs(value) > MOST and not _is_limited(cls, about.field_name):
            raise ValueError(f"numbers must be at most {MOST:,}")
        return value


def setting(default: Any, remark: str, *, tune: str | Sequence[float] = (), **limits: Any) -> Any:
    """A field with its one-line remark; `limits` are pydantic's (gt, ge, lt, le, min_length …). `tune` are the values that
    `niwaki search` tries, or the size of the start model of which it tries shares: layers, hidden, heads, ffn or embedding."""
    extra: JsonDict | None = {"tune": tune if isinstance(tune, str) else [*tune]} if tune else None
    return Field(default, description=remark, json_schema_extra=extra, **limits)


def tuned(kind: type[BaseModel]) -> dict[str, str | list[float]]:
    """The fields that `niwaki search` changes: the name of a size, or values."""
    extras = {name: field.json_schema_extra for name, field in kind.model_fields.items()}
    found = {name: extra["tune"] for name, extra in extras.items() if isinstance(extra, dict) and "tune" in extra}
    return {name: tune if isinstance(tune, str) else _numbers(tune) for name, tune in found.items()}


def _numbers(values: object) -> list[float]:
    listed = values if isinstance(values, list) else []
    return [value for value in listed if isinstance(value, int | float)]


def _is_limited(kind: type[BaseModel], name: str | None) -> bool:
    """Whether a field says itself how large it may be."""
    field = kind.model_fields.get(name or "")
    return field is not None and any(hasattr(limit, "le") or hasattr(limit, "lt") for limit in field.metadata)


def check(kind: type[SomeSettings], values: Json, path: str = "") -> SomeSettings:
    """`kind(**values)`, or InputError with one line per fault."""
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        raise InputError(faults_of(error, kind, path)) from None


def faults_of(error: ValidationError, kind: type[BaseModel], path: str) -> list[str]:
    return [_line(fault, kind, path) for fault in error.errors(include_url=False)]


def _line(fault: Any, kind: type[BaseModel], path: str) -> str:
    where = ".".join([*([path] if path else []), *(str(part) for part in fault["loc"])])
    if fault["type"] == "extra_forbidden":
        known = list(_fields_at(kind, fault["loc"][:-1]))
        return f"{where}: unknown key{did_you_mean(str(fault['loc'][-1]), known)}"
    if fault["type"] == "missing":
        return f"{where}: needed, but not given"
    message = fault["msg"].removeprefix("Value error, ")
    given = f" (given: {_shortened(repr(fault['input']))})" if not isinstance(fault["input"], dict | list) else ""
    return f"{where}: {message[0].lower()}{message[1:]}{given}"


def _shortened(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:77]}…"


def _fields_at(kind: type[BaseModel], location: tuple[int | str, ...]) -> Json:
    """The fields of the nested settings class that `location` leads to."""
    for part in location:
        if isinstance(part, int):
            continue
        field = kind.model_fields.get(str(part))
        inner = [t for t in _types_in(field.annotation) if issubclass(t, BaseModel)] if field else []
        if not inner:
            break
        kind = inner[0]
    return dict(kind.model_fields)


def _types_in(annotation: object) -> list[type]:
    if isinstance(annotation, type) and not hasattr(annotation, "__args__"):
        return [annotation]
    return [found for arg in getattr(annotation, "__args__", ()) for found in _types_in(arg)]
