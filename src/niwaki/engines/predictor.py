"""The predictor: tokenizer and engine, ready for text. Texts come back in the order they were given."""

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from pathlib import Path
from typing import Any
from weakref import WeakSet

import numpy as np
from tokenizers import Tokenizer

from niwaki.answers._answer_type import AnswerType, EncodedInputs, Input, Value, check_inputs, with_truncation
from niwaki.answers._from_config import answer_type_of, labels_of
from niwaki.core.errors import InputError, UsageError, first_line, is_panic
from niwaki.core.model_integrity import check_unchanged
from niwaki.core.path_safety import file_inside
from niwaki.core.tensor_file import read_header
from niwaki.data.batching import in_order
from niwaki.engines import RUNTIMES
from niwaki.engines.engine_choice import fastest_engine, usable_engines
from niwaki.engines.exits import ExitRule, exits_of, run_with_exits
from niwaki.engines.native.wordpiece import Wordpiece
from niwaki.engines.runtime import Runtime
from niwaki.models.config_rules import CONFIG, readable_tokens
from niwaki.models.config_rules import read as read_config
from niwaki.models.tokenizer_settings import check_folder as check_tokenizer_folder
from niwaki.tokenization.tokenizer_rules import read_text
from niwaki.tokenization.tokenizing import encode


class NotFinite(InputError):
    """A model that answers with NaN or infinity."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        super().__init__(
            f"{folder}: its logits are not finite (NaN or infinity); its weights are damaged or its training went astray: take another copy, or train it anew"
        )


class Predictor:
    """`niwaki.load(path)`. `engine` is a runtime's name; "auto" is the one that is fastest on this machine, and none the first of
    `PREFERENCE` that can serve the folder, which is the same on every machine."""

    def __init__(
        self, folder: Path, engine: str = "", threads: int | None = None, max_tokens: int | None = None
    ) -> None:
        if threads is not None and threads < 0:
            raise UsageError(f"load: threads must be 1 or more, or none for all cores (given: {threads})")
        config = check_model_folder(folder)
        check_unchanged(folder)
        self.folder = folder
        self.threads = threads or len(os.sched_getaffinity(0))
        self.engine = fastest_engine(folder, self.threads) if engine == "auto" else engine or usable_engines(folder)[0]
        kind: type[Runtime] = RUNTIMES.load(self.engine, Runtime)
        fault = kind.unsupported_reason(folder)
        if fault:
            raise InputError(fault)
        self.labels = labels_of(config, str(folder / CONFIG))
        self.answer_type = answer_type_of(config, str(folder / CONFIG)).load_files(folder, self.labels)
        self.vocabulary: int | None = config.get("vocab_size")
        self.pad_id = int(config.get("pad_token_id") or 0)
        self.exits = exits_of(config)
        self.max_tokens = max_tokens or readable_tokens(config)
        self._tokenizer_path = folder / "tokenizer.json"
        tokenizer = read_tokenizer(self._tokenizer_path)
        check_token_limit(tokenizer, self.max_tokens, folder / CONFIG)
        self.tokenizer = with_truncation(tokenizer, self.max_tokens)
        self.runtime = kind(folder, self.threads)
        with tokenizer_errors(self._tokenizer_path):
            self._bare = not encode(self.tokenizer, "").ids  # else marks make tokens of every text
            self._types = self._few_types(config)

    def _few_types(self, config: dict[str, Any]) -> int | None:
        """How many token types the model knows, where it reads them and the tokenizer may give more."""
        known = config.get("type_vocab_size") if self.runtime.reads_types else None
        most = max(1, *encode(self.tokenizer, "a", "a").type_ids)  # 1: a kind of answer may mark words
        return known if known is not None and known <= most else None

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        _with_threads.add(self)
        return ThreadPoolExecutor(self.threads, thread_name_prefix="niwaki")

    def predict(self, texts: Input | Sequence[Input]) -> list[Any]:
        """The answer to each text (or pair of texts, or what the kind of answer takes) with its probabilities."""
        if not isinstance(texts, Iterable) or isinstance(texts, Mapping):  # whose keys would be answered
            raise UsageError(f"predict: give a text or a list of them (given: {type(texts).__name__})")
        inputs = check_inputs(self.answer_type, [texts] if isinstance(texts, str | tuple) else list(texts))
        return self.answers(inputs, self.encode(inputs))

    def answers(self, inputs: Sequence[Input], rows: EncodedInputs) -> list[Any]:
        """The answers to inputs that are encoded already; what the kind asks further is asked too."""
        found = self.predict_rows(inputs, rows)
        second_pass_inputs = self.answer_type.second_pass_inputs(found)
        return (
            self.answer_type.merge_second_pass(found, self.answers(second_pass_inputs, self.encode(second_pass_inputs)))
            if second_pass_inputs
            else found
        )

    def values(self, inputs: Sequence[Input]) -> list[Value]:
        """The bare answers: a label, a number, a list of tags, a text. Inputs are trusted to be of the right form."""
        return self.predict_rows(inputs, self.encode(inputs), bare=True)

    def predict_rows(self, inputs: Sequence[Input], rows: EncodedInputs, bare: bool = False) -> list[Any]:
        """The answers of one pass, or the bare ones."""
        return self.decode_answers(self.logits(rows), rows, inputs, bare)

    def decode_answers(
        self, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], bare: bool = False
    ) -> list[Any]:
        read = self.answer_type.values if bare else self.answer_type.answers
        return read(logits, rows, inputs, self.labels)

    def encode(self, inputs: Sequence[Input]) -> EncodedInputs:
        with tokenizer_errors(self._tokenizer_path):
            rows = self._own(inputs, self._encode) if self._own else self._encode(inputs)
        self._refuse_tokens(rows)
        return rows

    def _refuse_tokens(self, rows: EncodedInputs) -> None:
        """What no engine could look up, or would answer with anything."""
        largest = int(rows.ids.values.max(initial=0))
        if self.vocabulary is not None and largest >= self.vocabulary:
            raise InputError(
                f"{self._tokenizer_path}: gives id {largest}, and the model knows {self.vocabulary} pieces"
            )
        if self._bare and not rows.ids.lengths.all():
            raise NoTokens(sorted({int(rows.input_index[one]) for one in np.flatnonzero(rows.ids.lengths == 0)}))
        if self._types is not None and (kind := int(rows.types.values.max(initial=0))) >= self._types:
            raise InputError(
                f"{self._tokenizer_path}: gives token type {kind}, and the model knows {self._types}; give single texts, or a tokenizer whose types are below that"
            )

    def _encode(self, inputs: Sequence[Input]) -> EncodedInputs:
        return self.answer_type.encode(inputs, self.tokenizer, self.max_tokens)

    @cached_property
    def _own(self) -> Wordpiece | None:
        """What reads texts sooner than the tokenizers library, where the kind of answer takes plain texts and the tokenizer is like BERT's."""
        plain = type(self.answer_type).encode is AnswerType.encode
        return Wordpiece.of(self.tokenizer, self.max_tokens) if plain else None

    def logits(self, rows: EncodedInputs) -> np.ndarray:
        """(sequences, labels), or (tokens of all sequences, labels) from heads per token, all finite. Work is arranged by length
        and shared between threads; the caller never sees it."""
        return self._finite(self._arranged(rows))

    def _finite(self, logits: np.ndarray) -> np.ndarray:
        """NaN looks like the first label, and is no JSON."""
        if not np.isfinite(logits).all():
            raise NotFinite(self.folder)
        return logits

    def _arranged(self, rows: EncodedInputs) -> np.ndarray:
        lengths = rows.ids.lengths
        if not len(lengths):
            return np.zeros((0, len(self.labels)), dtype=np.float32)
        if len(lengths) == 1:  # nothing to arrange
            return self._run(rows, np.zeros(1, dtype=np.int64), use_all_threads=True)
        batches = self.runtime.batches(lengths)
        use_all_threads = len(batches) == 1
        run = map if use_all_threads else self._pool.map
        parts = run(lambda chosen: self._run(rows, chosen, use_all_threads), batches)
        return in_order(zip(batches, parts, strict=True), lengths, self.answer_type.per_token)

    def _run(self, rows: EncodedInputs, chosen: np.ndarray, use_all_threads: bool) -> np.ndarray:
        """Logits of some sequences, in the shape that this model's answers are read from: a graph of another may give any."""
        found = self.runtime.run(rows.ids, rows.types, chosen, self.pad_id, use_all_threads)
        count = int(rows.ids.lengths[chosen].sum()) if self.answer_type.per_token else len(chosen)
        wanted = (count, found.shape[-1] if getattr(self.runtime, "search", None) else len(self.labels))
        if found.shape != wanted:
            raise InputError(
                f"{self.folder}: its graph gives numbers of shape {found.shape} where {wanted} are needed; it is of another model"
            )
        return found

    def logits_with_exits(self, rows: EncodedInputs, stops: ExitRule) -> tuple[np.ndarray, np.ndarray]:
        """(sequences, labels) of a network with exits: the logits of the exit that each sequence took, and its number."""
        batches = self.runtime.batches(rows.ids.lengths) if len(rows.ids) else []
        logits = np.zeros((len(rows.ids), len(self.labels)), dtype=np.float32)
        taken = np.zeros(len(rows.ids), dtype=np.int64)
        use_all_threads = len(batches) == 1
        run = map if use_all_threads else self._pool.map

        def leave(chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            waiting = self.runtime.start_layers(rows.ids, rows.types, chosen, self.pad_id)
            step = partial(self.runtime.run_layers, exits=self.exits, use_all_threads=use_all_threads)
            return run_with_exits(waiting, len(self.exits), step, stops)

        for chosen, (found, numbers) in zip(batches, run(leave, batches), strict=True):
            logits[chosen], taken[chosen] = found, numbers
        return self._finite(logits), taken

    def __repr__(self) -> str:
        return f"Predictor({str(self.folder)!r}, engine={self.engine!r}, labels={self.labels})"


class NoTokens(InputError):
    """Texts without marks around them, and of which no piece is known: an answer would mean nothing."""

    fault = "holds a text of which the tokenizer makes no tokens"  # of a line of a file

    def __init__(self, numbers: list[int]) -> None:
        super().__init__(
            f"texts.{numbers[0]}: the tokenizer makes no tokens of it; leave it out, an answer for it would mean nothing"
        )
        self.numbers = numbers


_with_threads: WeakSet[Predictor] = WeakSet()


def _forget_threads() -> None:
    """In a forked child none of the parent's threads live, and a pool that takes them to would wait for ever."""
    for predictor in list(_with_threads):
        predictor.__dict__.pop("_pool", None)


os.register_at_fork(after_in_child=_forget_threads)


def check_model_folder(folder: Path) -> dict[str, Any]:
    """The checked config. Only JSON and the header of the weights are looked at here: a deployment needs neither torch
    nor transformers."""
    if not folder.is_dir():
        raise InputError(f"{folder}: is not a folder")
    for name in (CONFIG, "tokenizer.json", "model.safetensors"):
        if not file_inside(folder, name).is_file():
            raise InputError(f"{folder}: is not a model that can predict, it has no {name}")
    config = read_config(folder)
    labels_of(config, str(folder / CONFIG))
    check_tokenizer_folder(folder)
    read_header(folder / "model.safetensors")
    return config


def read_tokenizer(path: Path) -> Tokenizer:
    """The tokenizer of a file that keeps the rules, tried once: what the rules do not see shows on the first text."""
    text = read_text(path)
    with tokenizer_errors(path):
        tokenizer = Tokenizer.from_str(text)
        encode(tokenizer, "A text, 1 of 2: naïve 日本語 \u0300 .", "and another")
    return tokenizer


@contextlib.contextmanager
def tokenizer_errors(path: Path) -> Iterator[None]:
    """What the tokenizers library raises, panics among it, as one line."""
    try:
        yield
    except InputError:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        raise InputError(f"{path}: cannot be read ({first_line(error)})") from None


def check_token_limit(tokenizer: Tokenizer, max_tokens: int, where: Path) -> None:
    """Where the marks alone fill what is read: the tokenizers library would then cut nothing at all."""
    marks = tokenizer.num_special_tokens_to_add(True)
    if max_tokens <= marks:
        raise InputError(
            f"{where}: texts are cut after {max_tokens} tokens, and the marks of a pair are {marks}; niwaki_max_tokens must be more"
        )
