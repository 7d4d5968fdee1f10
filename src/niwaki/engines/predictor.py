"""The predictor: inputs -> tokenizer -> scheduler -> engine -> decoder of the answer type -> answers.

encode     inputs to token ids                 engines/input_encoder.py
logits     batches, threads, the engine        engines/scheduler.py, engines/runtimes/
decode     logits to answers                   answers/
"""

import copy
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from niwaki.answers._answer_type import AnswerType, EncodedInputs, Input, Value, check_inputs
from niwaki.answers._capabilities import ReducesLogits, TwoPass
from niwaki.answers._from_config import is_bare_encoder, labels_of
from niwaki.answers.embedding import Embedding, normalized
from niwaki.answers.likelihood import Likelihood
from niwaki.core.errors import InputError, UsageError
from niwaki.core.head_folder import trunk_folder
from niwaki.core.json_types import Json
from niwaki.core.model_integrity import check_unchanged
from niwaki.core.path_safety import file_inside
from niwaki.core.shards import weight_paths
from niwaki.core.system import usable_cores
from niwaki.core.tensor_file import read_header
from niwaki.engines import RUNTIMES
from niwaki.engines.engine_choice import fastest_engine, usable_engines
from niwaki.engines.exits import ExitRule, exits_of
from niwaki.engines.input_encoder import open_encoder
from niwaki.engines.language_model import LanguageModel
from niwaki.engines.runtime import Runtime
from niwaki.engines.scheduler import Scheduler
from niwaki.engines.sharing import Shareable
from niwaki.models.config_rules import CONFIG, readable_tokens
from niwaki.models.config_rules import read as read_config
from niwaki.models.input_readers import missing_reader_file
from niwaki.models.published_answer import open_answer_type, with_published_answer
from niwaki.models.sentence_modules import embedding_size, with_published_pooling
from niwaki.models.tokenizer_settings import check_folder as check_tokenizer_folder
from niwaki.models.trunk import check_trunk


class Predictor(LanguageModel, Shareable):
    """`niwaki.load(path)`. `engine` is an engine's name; "auto" is the fastest on this machine; "" is the first in the order of
    preference that can run the model, which is the same on every machine."""

    def __init__(
        self, folder: Path, engine: str = "", threads: int | None = None, max_tokens: int | None = None
    ) -> None:
        if threads is not None and threads < 0:
            raise UsageError(f"load: threads must be 1 or more, or none for all cores (given: {threads})")
        config = self._config = self._read_config(folder)
        check_unchanged(folder)
        check_trunk(folder)
        self.folder = folder
        self.threads = threads or usable_cores()
        self.engine = fastest_engine(folder, self.threads) if engine == "auto" else engine or usable_engines(folder)[0]
        runtime: type[Runtime] = RUNTIMES.load(self.engine, Runtime)
        if reason := runtime.unsupported_reason(folder):
            raise InputError(reason)
        self.labels = labels_of(config, str(folder / CONFIG))
        self.answer_type = open_answer_type(folder, config, self.labels)
        self.exits = exits_of(config)
        self.max_tokens = max_tokens or readable_tokens(config)
        self.runtime = self._open_runtime(runtime)
        self._answer_with(self.answer_type)

    def _read_config(self, folder: Path) -> Json:
        return check_model_folder(folder)

    def _open_runtime(self, runtime: type[Runtime]) -> Runtime:
        return runtime(self.folder, self.threads)

    def _answer_with(self, answer_type: AnswerType) -> None:
        self.answer_type = answer_type
        reads_types = "token_type_ids" in self.runtime.inputs
        self.encoder = open_encoder(trunk_folder(self.folder), self._config, answer_type, self.max_tokens, reads_types)
        self.scheduler = Scheduler(
            self.runtime,
            pad_id=int(self._config.get("pad_token_id") or 0),
            labels=None if self.runtime.generates else self.outputs,
            per_token=answer_type.per_token,
            reduce=answer_type.reduce if isinstance(answer_type, ReducesLogits) else None,
        )

    def answering(self, answer_type: AnswerType) -> Self:
        """The same engine with another answer type, e.g. to fill masks instead of scoring texts."""
        found = copy.copy(self)
        found._answer_with(answer_type)
        return found

    @property
    def outputs(self) -> int:  # type: ignore[override]
        """Numbers for each text or token: labels, dimensions of an embedding, or tokens of the vocabulary."""
        if isinstance(self.answer_type, Likelihood):
            return self.answer_type.outputs(int(self._config["vocab_size"]))
        if self.answer_type.architecture == Likelihood.architecture:
            return int(self._config["vocab_size"])
        return len(self.labels) or embedding_size(self._config)

    def predict(self, texts: Input | Sequence[Input]) -> list[Any]:
        """The answer to each text, or pair of texts, or whatever inputs the answer type takes, with its probabilities."""
        inputs = self.check(texts)
        return self.answers(inputs, self.tokenize(inputs))

    def check(self, texts: Input | Sequence[Input]) -> list[Input]:
        """One input or several as a list of valid ones."""
        if not isinstance(texts, Iterable) or isinstance(texts, Mapping):  # the keys of a mapping are not texts
            raise UsageError(f"predict: give a text or a list of them (given: {type(texts).__name__})")
        return check_inputs(self.answer_type, [texts] if isinstance(texts, str | tuple) else list(texts))

    def answers(self, inputs: Sequence[Input], encoded: EncodedInputs) -> list[Any]:
        """The answers to encoded inputs, including those of a second pass if the answer type needs one."""
        first = self.predict_rows(inputs, encoded)
        if not isinstance(self.answer_type, TwoPass):
            return first
        second_pass_inputs = self.answer_type.second_pass_inputs(first)
        if not second_pass_inputs:
            return first
        second = self.answers(second_pass_inputs, self.tokenize(second_pass_inputs))
        return self.answer_type.merge_second_pass(first, second)

    def values(self, inputs: Sequence[Input]) -> list[Value]:
        """The answers as plain data: a label, a number, a list of tags, a text. Inputs are not checked."""
        return self.predict_rows(inputs, self.tokenize(inputs), bare=True)

    def predict_rows(self, inputs: Sequence[Input], encoded: EncodedInputs, bare: bool = False) -> list[Any]:
        """The answers of one pass; `bare` ones are plain data."""
        return self.decode_answers(self.logits(encoded), encoded, inputs, bare)

    def tokenize(self, inputs: Sequence[Input]) -> EncodedInputs:
        """Token ids of checked inputs."""
        return self.encoder(inputs)

    def encode(self, texts: Input | Sequence[Input], normalize: bool = True) -> np.ndarray:
        """Sentence embeddings, float32 (texts, dim). `normalize` scales them to length 1; without it they are as the
        checkpoint's own modules give them."""
        if not isinstance(self.answer_type, Embedding):
            raise UsageError(
                f"{self.folder}: has a task head and gives no sentence embeddings; load the encoder that it was made from"
            )
        found = self.logits(self.tokenize(self.check(texts)))
        return normalized(found) if normalize else found

    def logits(self, encoded: EncodedInputs) -> np.ndarray:
        """(sequences, labels), or (tokens of all sequences, labels) from a token head; all finite."""
        return self.scheduler.logits(encoded)

    def logits_with_exits(self, encoded: EncodedInputs, stops: ExitRule) -> tuple[np.ndarray, np.ndarray]:
        """(sequences, labels) logits of the exit that each sequence took, and the number of that exit."""
        return self.scheduler.logits_with_exits(encoded, self.exits, stops)

    def decode_answers(
        self, logits: np.ndarray, encoded: EncodedInputs, inputs: Sequence[Input], bare: bool = False
    ) -> list[Any]:
        decode = self.answer_type.values if bare else self.answer_type.answers
        return decode(logits, encoded, inputs, self.labels)

    def __repr__(self) -> str:
        return f"Predictor({str(self.folder)!r}, engine={self.engine!r}, labels={self.labels})"


def check_model_folder(folder: Path) -> Json:
    """The checked config. Reads only JSON and the header of the weights, so a deployment needs neither torch nor
    transformers."""
    if not folder.is_dir():
        raise InputError(f"{folder}: is not a folder")
    trunk = trunk_folder(folder)
    weights = weight_paths(folder)
    for path in (folder / CONFIG, *weights):
        if not file_inside(path.parent, path.name).is_file():
            raise InputError(f"{path.parent}: is not a model that can predict, it has no {path.name}")
    own = read_config(folder)
    if (lacking := missing_reader_file(trunk, own)) is not None:
        raise InputError(f"{trunk}: is not a model that can predict, it has no {lacking.name}")
    config = with_published_answer(folder, own)
    if is_bare_encoder(config) and trunk == folder:
        config = with_published_pooling(folder, config)
    labels_of(config, str(folder / CONFIG))
    check_tokenizer_folder(trunk)
    for path in weights:
        read_header(path)
    return config
