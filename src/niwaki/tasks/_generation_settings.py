"""Settings of tasks that generate texts."""

from typing import Literal

from niwaki.core.settings import setting
from niwaki.tasks._data_settings import DataSettings


class GenerationSettings(DataSettings):
    text: str = setting("", "column that holds the source text; none guesses")
    target: str = setting("", "column that holds the target text; none guesses")
    split: Literal["words", "bpe", "wordpiece", "bytes", "characters"] = setting("bpe", "tokens of generated texts")
    vocab_size: int = setting(8000, "maximum size of the target vocabulary", ge=5, le=400_000)
    max_new_tokens: int = setting(128, "maximum number of generated tokens", ge=1, le=100_000)
    beam: int = setting(4, "beam size", ge=1, le=64)
    length_penalty: float = setting(
        1.0, "power of the length by which scores are divided before texts are compared", ge=0, le=10
    )
    label_smoothing: float = setting(
        0.1, "label smoothing: share of the target probability that is spread over all tokens", ge=0, lt=1
    )
