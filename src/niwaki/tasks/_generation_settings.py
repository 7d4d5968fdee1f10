"""Settings of tasks that generate texts."""

from typing import Literal

from niwaki.core.settings import setting
from niwaki.tasks._data_settings import DataSettings


class GenerationSettings(DataSettings):
    text: str = setting("", "column that holds what is read; none guesses")
    target: str = setting("", "column that holds what is to be written; none guesses")
    split: Literal["words", "bpe", "wordpiece", "bytes", "characters"] = setting("bpe", "pieces of what is written")
    vocab_size: int = setting(8000, "most pieces of that vocabulary", ge=5, le=400_000)
    max_new_tokens: int = setting(128, "most tokens that are written", ge=1, le=100_000)
    beam: int = setting(4, "hypotheses that are followed side by side", ge=1, le=64)
    length_penalty: float = setting(
        1.0, "power of the length by which scores are divided before texts are compared", ge=0, le=10
    )
    label_smoothing: float = setting(0.1, "share of the truth that all pieces have alike while training", ge=0, lt=1)
