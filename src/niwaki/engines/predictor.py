"""The predictor: tokenizer and engine, ready for text. Texts come back in the order they were given."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from niwaki.answers._choose import kind_of
from niwaki.answers._kind import Input, Rows, Value, checked, limited
from niwaki.core.errors import Refused, first_line
from niwaki.core.files import read_json
from niwaki.data.batching import in_order, sorted_batches
from niwaki.engines import RUNTIMES
from niwaki.engines.runtime import Runtime

PREFERENCE = ("onnx", "torch")
BATCH_ROWS, BATCH_TOKENS = 32, 1024  # small enough for the caches: measured in benchmarks/batches.py


class Predictor:
    """`niwaki.load(path)`. `engine` is a runtime's name, or "auto": the first that can serve the folder."""

    def __init__(
        self, folder: Path, engine: str = "auto", threads: int | None = None, max_tokens: int | None = None
    ) -> None:
        refuse_folder(folder)
        self.folder = folder
        self.threads = threads or len(os.sched_getaffinity(0))
        self.engine = choose(folder) if engine == "auto" else engine
        kind: type[Runtime] = RUNTIMES.load(self.engine, Runtime)
        fault = kind.fault(folder)
        if fault:
            raise Refused(fault)
        config = read_json(folder / "config.json")
        self.kind = kind_of(config, str(folder / "config.json"))
        self.labels = [
            name for _, name in sorted((int(number), str(name)) for number, name in config["id2label"].items())
        ]
        self.pad_id = int(config.get("pad_token_id") or 0)
        self.max_tokens = max_tokens or readable_tokens(config)
        self.tokenizer = limited(read_tokenizer(folder), self.max_tokens)
        self.runtime = kind(folder, self.threads)

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.threads, thread_name_prefix="niwaki")

    def predict(self, texts: Input | Sequence[Input]) -> list[Any]:
        """The answer to each text (or pair of texts, or what the kind of answer takes) with its probabilities."""
        inputs = checked(self.kind, [texts] if isinstance(texts, str | tuple) else texts)
        rows = self.encode(inputs)
        return self.kind.answers(self.logits(rows), rows, inputs, self.labels)

    def values(self, inputs: Sequence[Input]) -> list[Value]:
        """The bare answers: a label, a number, a list of tags, a text. Inputs are trusted to be of the right form."""
        rows = self.encode(inputs)
        return self.kind.values(self.logits(rows), rows, inputs, self.labels)

    def encode(self, inputs: Sequence[Input]) -> Rows:
        return self.kind.encode(inputs, self.tokenizer, self.max_tokens)

    def logits(self, rows: Rows) -> np.ndarray:
        """(sequences, labels), or (tokens of all sequences, labels) from heads per token. Work is arranged by length and
        shared between threads; the caller never sees it."""
        lengths = rows.ids.lengths
        if not len(lengths):
            return np.zeros((0, len(self.labels)), dtype=np.float32)
        batches = sorted_batches(lengths, BATCH_ROWS, BATCH_TOKENS)
        run = map if len(batches) == 1 else self._pool.map
        parts = run(lambda sequences: self._run(rows, sequences), batches)
        return in_order(zip(batches, parts, strict=True), lengths, self.kind.per_token)

    def _run(self, rows: Rows, sequences: np.ndarray) -> np.ndarray:
        filled, mask = rows.ids.padded(sequences, self.pad_id)
        return self.runtime.logits(filled, mask.astype(np.int64), rows.types.padded(sequences)[0])

    def __repr__(self) -> str:
        return f"Predictor({str(self.folder)!r}, engine={self.engine!r}, labels={self.labels})"


def choose(folder: Path) -> str:
    for name in PREFERENCE:
        if RUNTIMES.load(name, Runtime).fault(folder) is None:
            return name
    raise Refused(f"{folder}: no engine can run it")


def refuse_folder(folder: Path) -> None:
    """Only JSON is looked at here: a deployment needs neither torch nor transformers."""
    if not folder.is_dir():
        raise Refused(f"{folder}: is not a folder")
    for name in ("config.json", "tokenizer.json"):
        if not (folder / name).is_file():
            raise Refused(f"{folder}: is not a model that can predict, it has no {name}")
    config = read_json(folder / "config.json")
    names = config.get("id2label") if isinstance(config, dict) else None
    if not isinstance(names, dict) or not names or not all(number.isdigit() for number in names):
        raise Refused(f"{folder / 'config.json'}: names no labels (id2label); fine-tune the model on a task first")


def read_tokenizer(folder: Path) -> Tokenizer:
    try:
        return Tokenizer.from_file(str(folder / "tokenizer.json"))
    except Exception as error:  # noqa: BLE001 - the reader raises bare Exception
        raise Refused(f"{folder / 'tokenizer.json'}: cannot be read ({first_line(error)})") from None


def readable_tokens(config: dict) -> int:
    """What the model was trained on where niwaki wrote it down, else what its positions allow."""
    return int(config.get("niwaki_max_tokens") or config.get("max_position_embeddings", 514) - 2)
