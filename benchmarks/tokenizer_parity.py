"""Compares a model's token ids with its Hugging Face tokenizer: `python benchmarks/tokenizer_parity.py MODEL [COUNT]`. Appends to results/tokens.jsonl.

Encodes generated texts of many kinds, including empty ones and some of 100,000 characters, one batch in ten as pairs, with
`Predictor.tokenize` and with transformers' AutoTokenizer, and compares ids and types. Then measures the CPU time per sentence of the
bundled reviews, interleaved with the tokenizers library, and records how each handles an unpaired surrogate.
"""

import random
import statistics
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from records import append, circumstances
from transformers import AutoTokenizer

from niwaki.core.errors import NiwakiError
from niwaki.engines.predictor import Predictor
from niwaki.tasks.rotten_tomatoes import imdb_sentences

CHUNK, LONG, PAIRS_EVERY = 2000, 100_000, 10
SENTENCES, LAPS = 2000, 15
WORDS = [
    "the",
    "a",
    "film",
    "plot",
    "don't",
    "it's",
    "unbelievable",
    "co-operate",
    "naïve",
    "Über",
    "straße",
    "İstanbul",
    "ﬁne",
    "e-mail",
    "www.example.com",
    "3.14",
    "1,000,000",
    "$5",
    "#1",
    "@you",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "[UNK]",
    "antidisestablishmentarianism",
    "xyzzy",
]
RANGES = {
    "emoji": [(0x1F300, 0x1FAFF), (0x2600, 0x27BF), (0x1F1E6, 0x1F1FF), (0xFE0F, 0xFE0F), (0x200D, 0x200D)],
    "cjk": [(0x4E00, 0x9FFF), (0x3040, 0x30FF), (0xAC00, 0xD7A3), (0x20000, 0x2A6DF), (0xF900, 0xFAFF)],
    "combining": [(0x0300, 0x036F), (0x1AB0, 0x1AFF), (0x0061, 0x007A), (0x0591, 0x05C7), (0x0E31, 0x0E4E)],
    "control": [
        (0x0000, 0x001F),
        (0x007F, 0x009F),
        (0x200B, 0x200F),
        (0x2028, 0x202E),
        (0xFFF9, 0xFFFD),
        (0x0061, 0x007A),
    ],
    "scripts": [
        (0x0400, 0x04FF),
        (0x0600, 0x06FF),
        (0x0900, 0x097F),
        (0x0590, 0x05FF),
        (0x1E00, 0x1EFF),
        (0x0020, 0x0020),
    ],
    "any": [(0x0000, 0xD7FF), (0xE000, 0x10FFFF)],
}
KINDS = ("words", "words", "words", *RANGES, "mixed", "empty", "blanks")


def text(draw: random.Random, kind: str) -> str:
    if kind == "empty":
        return ""
    if kind == "blanks":
        return "".join(draw.choices(" \t\n\r\u00a0\u3000", k=draw.randint(1, 5)))
    if kind == "words":
        return " ".join(draw.choices(WORDS, k=draw.randint(1, 30)))
    if kind == "mixed":
        return " ".join(text(draw, draw.choice(("words", *RANGES))) for _ in range(draw.randint(2, 4)))
    return "".join(chr(draw.randint(*draw.choice(RANGES[kind]))) for _ in range(draw.randint(1, 40)))


def long(draw: random.Random) -> str:
    return draw.choice(("a", "film ", "日", "é", "🙂 ", "\u0301", "x-"))[:2] * LONG


def ours(predictor: Predictor, texts: list[Any]) -> list[tuple[list[int], list[int]]]:
    rows = predictor.tokenize(texts)
    return [(rows.ids[number].tolist(), rows.types[number].tolist()) for number in range(len(rows.ids))]


def theirs(tokenizer: Any, texts: list[Any], most: int) -> list[tuple[list[int], list[int]]]:
    parts = [list(part) for part in zip(*texts, strict=True)] if isinstance(texts[0], tuple) else [texts]
    found = tokenizer(*parts, truncation=True, max_length=most, return_token_type_ids=True)
    return list(zip(found["input_ids"], found["token_type_ids"], strict=True))


def what_of(call: Any) -> str:
    try:
        return f"{len(call())} answers"
    except NiwakiError as error:
        return f"rejected: {error}"
    except Exception as error:  # noqa: BLE001 - the error is compared
        return f"{type(error).__name__}: {str(error)[:120]}"


def speed(predictor: Predictor) -> dict[str, list[float]]:
    """Microseconds per sentence and lap, in batches and one text at a time."""
    texts = imdb_sentences(SENTENCES, 0)
    ways = {
        "niwaki": predictor.tokenize,
        "library": lambda some: predictor.answer_type.encode(some, predictor.encoder.tokenizer, predictor.max_tokens),
    }
    laps: dict[str, list[float]] = {f"{name}{end}": [] for name in ways for end in ("", " alone")}
    for _ in range(LAPS):
        for name, encode in ways.items():
            start = time.process_time()
            encode(texts)
            middle = time.process_time()
            for one in texts[:200]:
                encode([one])
            laps[name].append(1e6 * (middle - start) / len(texts))
            laps[f"{name} alone"].append(1e6 * (time.process_time() - middle) / 200)
    return laps


def main(folder: Path, count: int) -> None:
    predictor, tokenizer = Predictor(folder), AutoTokenizer.from_pretrained(folder)
    draw, seen, different = random.Random(0), Counter(), []
    for start in range(0, count, CHUNK):
        kinds = draw.choices(KINDS, k=min(CHUNK, count - start))
        texts: list[Any] = [text(draw, kind) for kind in kinds]
        if start % (25 * CHUNK) == 0:
            texts[0], kinds[0] = long(draw)[:LONG], "long"
        if start // CHUNK % PAIRS_EVERY == PAIRS_EVERY - 1:
            texts = list(zip(texts, reversed(texts), strict=True))
            kinds = ["pair"] * len(texts)
        seen.update(kinds)
        both = zip(texts, kinds, ours(predictor, texts), theirs(tokenizer, texts, predictor.max_tokens), strict=True)
        different += [(kind, repr(given)[:200]) for given, kind, one, other in both if one != other]
        if start % (50 * CHUNK) == 0:
            print(start, len(different), flush=True)
    lone = "a \ud83d film"
    record = {
        "model": folder.parent.name if folder.name == "model" else folder.name,
        "tokenizer": type(tokenizer).__name__,
        "texts": sum(seen.values()),
        "kinds": dict(seen),
        "different": len(different),
        "examples": different[:5],
        "microseconds": {name: statistics.median(some) for name, some in speed(predictor).items()},
        "lone_surrogate": {
            "niwaki": what_of(lambda: predictor.predict([lone])),
            "transformers": what_of(lambda: tokenizer([lone])["input_ids"]),
        },
    }
    print(record)
    append("tokens", {**record, **circumstances()})


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000)
