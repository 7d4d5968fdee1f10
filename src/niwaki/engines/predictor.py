"""The predictor: tokenizer and engine, ready for text. Texts come back in the order they were given."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from niwaki.core.errors import Refused, UsageError
from niwaki.core.files import read_json
from niwaki.data.batching import pad, sorted_batches
from niwaki.engines import RUNTIMES
from niwaki.engines.runtime import Runtime

PREFERENCE = ("onnx", "torch")
BATCH_ROWS, BATCH_TOKENS = 32, 1024  # small enough for the caches: measured in benchmarks/batches.py

Text = str | tuple[str, str]


@dataclass(frozen=True)
class Prediction:
    """One answer."""

    label: str
    probability: float
    probabilities: dict[str, float]

    def __str__(self) -> str:
        return f"{self.label} ({self.probability:.1%})"


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
        self.labels = [
            name for _, name in sorted((int(number), str(name)) for number, name in config["id2label"].items())
        ]
        self.pad_id = int(config.get("pad_token_id") or 0)
        self.tokenizer = read_tokenizer(folder, max_tokens or readable_tokens(config))
        self.runtime = kind(folder, self.threads)

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.threads, thread_name_prefix="niwaki")

    def predict(self, texts: Text | Sequence[Text]) -> "list[Prediction]":
        """Label and probabilities of each text (or pair of texts)."""
        rows = checked([texts] if isinstance(texts, str | tuple) else texts)
        return [self._prediction(row) for row in softmax(self.logits(rows))]

    def logits(self, texts: Sequence[Text]) -> np.ndarray:
        """(texts, labels), in order. Work is arranged by length and shared between threads; the caller never sees it."""
        if not texts:
            return np.zeros((0, len(self.labels)), dtype=np.float32)
        encodings = self.tokenizer.encode_batch_fast(list(texts))
        ids, types = [e.ids for e in encodings], [e.type_ids for e in encodings]
        if len(ids) == 1:
            return self._run(ids, types)
        batches = sorted_batches([len(row) for row in ids], BATCH_ROWS, BATCH_TOKENS)
        parts = self._pool.map(
            lambda rows: self._run([ids[row] for row in rows], [types[row] for row in rows]), batches
        )
        result = np.empty((len(ids), len(self.labels)), dtype=np.float32)
        for rows, part in zip(batches, parts, strict=True):
            result[rows] = part
        return result

    def _run(self, ids: list[list[int]], types: list[list[int]]) -> np.ndarray:
        filled, mask = pad(ids, self.pad_id)
        return self.runtime.logits(filled, mask.astype(np.int64), pad(types)[0])

    def _prediction(self, probabilities: np.ndarray) -> Prediction:
        best = int(probabilities.argmax())
        named = {label: float(value) for label, value in zip(self.labels, probabilities, strict=True)}
        return Prediction(self.labels[best], float(probabilities[best]), named)

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


def read_tokenizer(folder: Path, max_tokens: int) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    except Exception as error:  # noqa: BLE001 - the reader raises bare Exception
        raise Refused(f"{folder / 'tokenizer.json'}: cannot be read ({str(error).splitlines()[0][:160]})") from None
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    return tokenizer


def readable_tokens(config: dict) -> int:
    """What the model was trained on where niwaki wrote it down, else what its positions allow."""
    return int(config.get("niwaki_max_tokens") or config.get("max_position_embeddings", 514) - 2)


def checked(texts: Sequence[Text]) -> list[Text]:
    """Texts, or pairs of texts, none empty; otherwise one line that says which and why."""
    rows = list(texts)
    for number, row in enumerate(rows):
        pair = row if isinstance(row, tuple) else (row,)
        if not 1 <= len(pair) <= 2 or not all(isinstance(text, str) for text in pair):
            raise UsageError(f"texts.{number}: must be a string, or a tuple of two (given: {type(row).__name__})")
        if not all(text.strip() for text in pair):
            raise Refused(f"texts.{number}: is empty; leave it out, an answer for it would mean nothing")
    return rows


def softmax(logits: np.ndarray) -> np.ndarray:
    shifted = np.exp(logits.astype(np.float64) - logits.max(axis=1, keepdims=True, initial=-np.inf))
    return shifted / shifted.sum(axis=1, keepdims=True)
