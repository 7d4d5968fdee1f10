"""Predictions from packed files (packed_file.py) with Python's standard library alone: no numpy, no start-up cost.

    model = Packed("model.niwaki")
    model.predict(["a film to see twice"])

tools/predict_package.py makes a distribution of its own of this file and the compiled kernels, `niwaki-predict`. Therefore it imports
nothing of niwaki.
"""

import ctypes
import math
import os
import sys
from collections.abc import Sequence
from ctypes import POINTER, c_char_p, c_float, c_int, c_int32, c_void_p
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Tokenizer

INTS, FLOATS = POINTER(c_int32), POINTER(c_float)
NUMBERS, ONE_LABEL, SEVERAL_LABELS = range(3)  # as in niwaki.h
BATCH_TEXTS = 32
FUNCTIONS = {
    "open": (c_void_p, c_char_p),
    "close": (None, c_void_p),
    "error": (c_char_p,),
    "outputs": (c_int, c_void_p),
    "per_token": (c_int, c_void_p),
    "answer": (c_int, c_void_p),
    "max_tokens": (c_int, c_void_p),
    "label": (c_char_p, c_void_p, c_int),
    "kernels_of": (c_char_p, c_void_p),
    "tokenizer": (c_char_p, c_void_p),
    "tokenize": (c_int, c_void_p, c_char_p, INTS, INTS, c_int),
    "predict": (c_int, c_void_p, INTS, INTS, INTS, c_int, c_int, FLOATS),
}
Row = list[float]
Tokens = tuple[list[int], list[int]]  # ids and types


class PackedError(ValueError):
    """A file that is no packed model, or a text that it cannot read."""


@cache
def library() -> ctypes.CDLL:
    """The compiled kernels next to this file, or in NIWAKI_KERNELS."""
    given = os.environ.get("NIWAKI_KERNELS")
    paths = [Path(given)] if given else sorted(Path(__file__).parent.glob("_kernels*.so"))
    if not paths:
        raise PackedError("niwaki: the compiled kernels are missing; install it again where there is a C compiler")
    found = ctypes.CDLL(str(paths[0]))
    for name, (result, *arguments) in FUNCTIONS.items():
        function = getattr(found, f"niwaki_{name}")
        function.restype, function.argtypes = result, arguments
    return found


class Packed:
    """A packed model. Processes that open the same file share its memory. Calls from several threads need a model each."""

    def __init__(self, path: str | os.PathLike[str], threads: int = 1) -> None:
        self.path, self.threads, self._library = os.fspath(path), threads, library()
        self._model = self._library.niwaki_open(os.fsencode(self.path))
        if not self._model:
            raise PackedError(self._error())
        about = {name: getattr(self._library, f"niwaki_{name}")(self._model) for name in ("outputs", "per_token")}
        self.outputs, self.per_token = about["outputs"], bool(about["per_token"])
        self.max_tokens: int = self._library.niwaki_max_tokens(self._model)
        self.kernels: str = self._library.niwaki_kernels_of(self._model).decode()
        self.answer: int = self._library.niwaki_answer(self._model)
        labels = (self._library.niwaki_label(self._model, number).decode() for number in range(self.outputs))
        self.labels = [label for label in labels if label]

    def __del__(self) -> None:
        if getattr(self, "_model", None):
            self._library.niwaki_close(self._model)

    def predict(self, texts: str | Sequence[str]) -> list[dict[str, object]]:
        """The answer to each text: label and probabilities, or the labels above one half, or numbers."""
        rows = self.logits([self.tokenize(text) for text in ([texts] if isinstance(texts, str) else texts)])
        return [self._answer(row) for row in rows]

    def _answer(self, row: list[Row]) -> dict[str, object]:
        if self.per_token or self.answer == NUMBERS:
            return {"numbers": row if self.per_token else row[0]}
        if self.answer == SEVERAL_LABELS:
            shares = dict(zip(self.labels, [1 / (1 + math.exp(-logit)) for logit in row[0]], strict=True))
            return {"labels": [label for label, share in shares.items() if share > 0.5], "probabilities": shares}
        most = max(row[0])
        powers = [math.exp(logit - most) for logit in row[0]]
        shares = {label: power / sum(powers) for label, power in zip(self.labels, powers, strict=True)}
        best = max(shares, key=lambda label: shares[label])
        return {"label": best, "probability": shares[best], "probabilities": shares}

    def tokenize(self, text: str) -> Tokens:
        """Ids and types. Texts that the C code does not know go through the tokenizers library."""
        data = text.encode()
        if b"\0" not in data:
            ids, types = (c_int32 * self.max_tokens)(), (c_int32 * self.max_tokens)()
            count = self._library.niwaki_tokenize(self._model, data, ids, types, self.max_tokens)
            if count >= 0:
                return ids[:count], types[:count]
        found = self._tokenizer.encode(text)
        return found.ids, found.type_ids

    @cached_property
    def _tokenizer(self) -> "Tokenizer":
        settings = self._library.niwaki_tokenizer(self._model)
        if not settings:
            raise PackedError(f"{self.path}: has no tokenizer; give token ids to logits()")
        try:
            from tokenizers import Tokenizer
        except ImportError:
            raise PackedError(
                f"{self.path}: a text has characters that only the tokenizers library reads; pip install tokenizers"
            ) from None
        tokenizer = Tokenizer.from_str(settings.decode())
        tokenizer.no_padding()
        tokenizer.enable_truncation(self.max_tokens)
        return tokenizer

    def logits(self, tokens: Sequence[Tokens]) -> list[list[Row]]:
        """Outputs of each text: one row, or one for each token."""
        found: list[list[Row]] = []
        for start in range(0, len(tokens), BATCH_TEXTS):
            found += self._run(tokens[start : start + BATCH_TEXTS])
        return found

    def _run(self, tokens: Sequence[Tokens]) -> list[list[Row]]:
        lengths = [len(ids) for ids, _ in tokens]
        counts = lengths if self.per_token else [1] * len(tokens)
        size = self.outputs
        outputs = (c_float * (sum(counts) * size))()
        given = (
            (c_int32 * len(values))(*values)
            for values in ([x for ids, _ in tokens for x in ids], [x for _, types in tokens for x in types], lengths)
        )
        if self._library.niwaki_predict(self._model, *given, len(tokens), self.threads, outputs):
            raise PackedError(f"{self.path}: {self._error()}")
        rows = iter([outputs[place : place + size] for place in range(0, len(outputs), size)])
        return [[next(rows) for _ in range(count)] for count in counts]

    def _error(self) -> str:
        return str(self._library.niwaki_error().decode(errors="replace"))


def main(arguments: list[str]) -> int:
    """niwaki-predict FILE [TEXT...]: answers as JSON, one line each; without texts, to each line of stdin."""
    import json

    if not arguments or arguments[0].startswith("-"):
        sys.stderr.write("niwaki-predict FILE [TEXT...]   (texts, or one on each line of stdin)\n")
        return 0 if arguments[:1] in (["--help"], ["-h"]) else 2
    try:
        model = Packed(arguments[0])
        for text in arguments[1:] or (line.rstrip("\n") for line in sys.stdin):
            sys.stdout.write(json.dumps(model.predict(text)[0], ensure_ascii=False) + "\n")
            sys.stdout.flush()
    except PackedError as error:
        sys.stderr.write(f"{error}\n")
        return 3
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def command() -> None:
    sys.exit(main(sys.argv[1:]))


if __name__ == "__main__":
    command()
