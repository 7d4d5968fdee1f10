"""Models, cascades and engines side by side: texts in, answers out, in turns, on streams of several lengths."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from niwaki.answers._kind import Input
from niwaki.core.errors import Refused
from niwaki.engines.cascade import opened
from niwaki.evaluate.speed import race
from niwaki.tasks.rotten_tomatoes import imdb_sentences

STREAMS = {"mixed": 0, "short": 12, "128": 128, "384": 384}  # tokens of a text; 0 takes sentences as they come
ANSWERS = ("label", "labels", "number", "text")
COUNTS = {"mixed": 512, "short": 512, "128": 96, "384": 32}


def texts_of(stream: str, count: int) -> list[str]:
    """Sentences of the embedded reviews in the order they come; for a length, as many of them as are surely enough, to be cut."""
    found = [" ".join(text.split()) for text in imdb_sentences(4096, 0)]
    tokens = STREAMS[stream]
    if not tokens:
        return found[:count]
    texts, at = [], 0
    for _ in range(count):
        words: list[str] = []
        while len(words) < tokens:  # a word has a token or more
            words += found[at % len(found)].split()
            at += 1
        texts.append(" ".join(words[:tokens]))
    return texts


def bench(
    models: Mapping[str, tuple[Path, str]], streams: Sequence[str], rounds: int, threads: int | None
) -> dict[str, Any]:
    """For each stream the race of all models, given by label as folder and engine; ratios are to the first of them."""
    told: dict[str, Any] = {"version": 1, "streams": {}}
    for stream in streams:
        runners: dict[str, Callable[[Sequence[Input]], Any]] = {}
        for label, (folder, engine) in models.items():
            predictor = opened(folder, engine, threads, STREAMS[stream] or None)
            if (kind := predictor.kind.to_json()["kind"]) not in ANSWERS:
                raise Refused(f"{folder}: bench runs models that read a text and answer with a {', '.join(ANSWERS[:-1])} or {ANSWERS[-1]}, not with {kind}")  # fmt: skip
            runners[label] = predictor.values
        found = race(runners, texts_of(stream, COUNTS[stream]), next(iter(runners)), rounds)
        told["streams"][stream] = {"tokens": STREAMS[stream] or None, **found}
    return told
