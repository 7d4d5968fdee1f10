"""A generated text: a translation, a formula. The tokenizer of generated texts is a file next to the network."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from pydantic import PrivateAttr
from tokenizers import Tokenizer

from niwaki.answers._answer_type import Answer, EncodedInputs, Input, Value
from niwaki.answers._beam_search import END, NO_TOKEN, PAD, START, UNKNOWN, Grammar, SearchSettings
from niwaki.answers._one_text import OneText
from niwaki.core import strict_json
from niwaki.core.errors import InputError, first_line, is_panic
from niwaki.core.json_types import Json
from niwaki.core.path_safety import file_inside
from niwaki.core.settings import setting
from niwaki.tokenization import tokenizer_rules

TARGET, GRAMMAR = "target.json", "grammar.json"
MAX_BYTES = 64 << 20


@dataclass(frozen=True)
class Prediction(Answer):
    text: str
    probability: float  # of the whole text, as the model sees it

    def __str__(self) -> str:
        return self.text

    def record(self) -> Json:
        return {"generated": self.text, "probability": self.probability}  # `text` is what was read


@dataclass(frozen=True)
class LoadedFiles:
    target: Tokenizer  # of generated texts
    grammar: Grammar | None


class Text(OneText):
    beam: int = setting(1, "hypotheses of each text that are followed side by side", ge=1, le=64)
    length_penalty: float = setting(
        1.0, "power of the length by which scores are divided before texts are compared", ge=0, le=10
    )
    max_new_tokens: int = setting(128, "most tokens that are written", ge=1, le=100_000)
    grammar: bool = setting(False, f"whether only what {GRAMMAR} allows is written")
    start: int = setting(START, "piece that a text begins with, before the first that is written", ge=0)
    end: int = setting(END, "piece that it ends with", ge=0)
    suppress_tokens: list[int] = setting([PAD, START, UNKNOWN], "tokens that are never generated")
    renormalize: bool = setting(False, "whether probabilities are those among the tokens that may be generated")

    first: int | None = setting(None, "token that is always generated first, e.g. that of a language", ge=0)

    architecture: ClassVar[str] = "ConditionalGeneration"

    _loaded: "LoadedFiles | None" = PrivateAttr(None)

    @classmethod
    def required_files(cls, settings: Mapping[str, object]) -> tuple[str, ...]:
        return (TARGET, GRAMMAR) if settings.get("grammar") else (TARGET,)

    def load_files(self, folder: Path, labels: list[str]) -> "Text":
        names = self.required_files({"grammar": self.grammar})
        return self.with_files({name: _read(folder, name) for name in names}, str(folder))

    def with_files(self, files: Mapping[str, bytes], where: str = "") -> "Text":
        """The answer type with the tokenizer and the grammar in these files."""
        target = read_target(files[TARGET], where)
        size, grammar = target.get_vocab_size(), None
        first = [] if self.first is None else [self.first]
        for token in (self.start, self.end, *self.suppress_tokens, *first):
            if not 0 <= token < size:
                raise InputError(
                    f"{Path(where) / TARGET}: has {size} tokens, and {token} is named as a special token (niwaki_answer)"
                )
        if self.grammar:
            from niwaki.answers._grammar import read

            grammar = read(files[GRAMMAR], target, where)
        self._loaded = LoadedFiles(target, grammar)
        return self

    @property
    def target(self) -> Tokenizer:
        if self._loaded is None:
            raise LookupError(TARGET)
        return self._loaded.target

    @property
    def search(self) -> SearchSettings:
        return SearchSettings(
            self.beam,
            self.length_penalty,
            self.max_new_tokens,
            self._loaded.grammar if self._loaded else None,
            self.start,
            self.end,
            tuple(self.suppress_tokens),
            self.renormalize,
            self.first,
        )

    def values(
        self, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], labels: list[str]
    ) -> list[Value]:
        """`logits` are what the search wrote (`answers/_beam_search.py`)."""
        if not len(logits):
            return []
        tokens = logits[:, 1:].astype(np.int64)
        return self.target.decode_batch([[int(one) for one in row[row != NO_TOKEN]] for row in tokens])

    def answers(
        self, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], labels: list[str]
    ) -> list[Prediction]:
        texts = self.values(logits, rows, inputs, labels)
        return [Prediction(text, math.exp(min(0.0, float(one[0])))) for text, one in zip(texts, logits, strict=True)]

    def confidence(
        self, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], labels: list[str]
    ) -> np.ndarray:
        """Between the probability of the whole text, which falls with every token, however sure, and the mean one of a token,
        in which a doubtful one among many is lost: the logarithm is divided by the root of how many are written, with the end."""
        lengths = np.minimum((logits[:, 1:] != NO_TOKEN).sum(axis=1) + 1, self.max_new_tokens)
        return np.exp(np.minimum(0.0, logits[:, 0].astype(np.float64)) / np.sqrt(lengths))


def _read(folder: Path, name: str) -> bytes:
    path = file_inside(folder, name)
    if not path.is_file():
        raise InputError(f"{path}: is missing; what the model writes is made with it")
    if path.stat().st_size > MAX_BYTES:
        raise InputError(f"{path}: is larger than any that niwaki writes")
    return path.read_bytes()


def read_target(data: bytes, where: str) -> Tokenizer:
    """Checked before the library reads it, which trusts its file."""
    path = str(Path(where) / TARGET)
    tokenizer_rules.check(strict_json.parse(data, path, tokenizer_rules.MAX_VALUES), path)
    try:
        return Tokenizer.from_str(data.decode())
    except BaseException as error:
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        raise InputError(f"{path}: cannot be read ({first_line(error)})") from None
