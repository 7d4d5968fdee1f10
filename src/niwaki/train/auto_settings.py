"""Settings of a train block that may follow from the rows: `train = "auto"`, or `auto = true` next to settings that are given."""

from collections.abc import Callable

from pydantic import model_serializer, model_validator

from niwaki.core.json_types import Json
from niwaki.core.settings import Settings, setting

AUTO = "auto"
AUTO_SETTINGS = ("epochs", "lr", "batch")


class AutoSettings(Settings):
    auto: bool = setting(
        False, 'whether epochs, lr and batch that are not given follow from the rows; train = "auto" says the same'
    )
    epochs: float = setting(3.0, "passes over the training rows; may be a part, like 0.5", gt=0, le=10_000)
    lr: float = setting(5e-5, "highest learning rate, reached after the warm-up", gt=0, lt=1)
    batch: int = setting(32, "rows per step", ge=1, le=65_536)

    @model_validator(mode="before")
    @classmethod
    def _spelled_out(cls, values: object) -> object:
        return {"auto": True} if values == AUTO else values

    @model_serializer(mode="wrap")
    def _without_defaults_of_auto(self, serialize: Callable[["AutoSettings"], Json]) -> Json:
        """A recipe that is read again must choose the same values."""
        left = set(AUTO_SETTINGS) - self.model_fields_set if self.auto else ()
        return {name: value for name, value in serialize(self).items() if name not in left}
