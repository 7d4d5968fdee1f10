"""Settings under `[data]` that every task has."""

from functools import cached_property

from pydantic import ConfigDict

from niwaki.core.settings import Settings, setting


class DataSettings(Settings):
    model_config = ConfigDict(ignored_types=(cached_property,))

    path: str = setting("", "file, folder or Hugging Face id with the rows; a folder of tasks has one folder for each")
    validation: float = setting(0.1, "share of rows for validation, where no file gives them", gt=0, lt=0.5)
    test: float = setting(0.15, "share of rows for the test, where no file gives them", gt=0, lt=0.5)
    rows: int = setting(0, "train rows to take, drawn by their hash; 0 takes all", ge=0)
    max_tokens: int = setting(128, "texts are cut after this many tokens", ge=8, le=100_000)
