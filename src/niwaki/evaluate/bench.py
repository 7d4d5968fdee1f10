"""Compares the speed of models, cascades and engines, interleaved, on streams of texts of several lengths."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from niwaki.answers._answer_type import Input
from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.core.log import info
from niwaki.engines.cascade import is_cascade, model_folders, open_predictor, read_cascade_plan
from niwaki.engines.predictor import check_model_folder
from niwaki.evaluate.speed import race
from niwaki.models.config_rules import stated_positions, text_positions
from niwaki.models.value_rules import MOST_POSITIONS
from niwaki.tasks.rotten_tomatoes import imdb_sentences

STREAMS = {"mixed": 0, "short": 12, "128": 128, "384": 384}  # tokens of a text; 0: sentences of any length
ANSWERS = ("label", "labels", "number", "text")
COUNTS = {"mixed": 512, "short": 512, "128": 96, "384": 32}


def texts_of(stream: str, count: int) -> list[str]:
    """Sentences of the embedded reviews in their order; for a fixed length, enough of them joined, to be truncated."""
    found = [" ".join(text.split()) for text in imdb_sentences(4096, 0)]
    tokens = STREAMS[stream]
    if not tokens:
        return found[:count]
    texts, at = [], 0
    for _ in range(count):
        words: list[str] = []
        while len(words) < tokens:  # a word has at least one token
            words += found[at % len(found)].split()
            at += 1
        texts.append(" ".join(words[:tokens]))
    return texts


def readable_streams(folders: Sequence[Path], requested: Sequence[str]) -> list[str]:
    """The requested streams, or all that every model can read. Rejects a requested one that is longer than a model's maximum."""
    longest = {folder: positions_in(folder) for folder in folders}
    least = min(longest, key=lambda folder: longest[folder])
    beyond = [stream for stream in requested or STREAMS if STREAMS[stream] > longest[least]]
    if requested and beyond:
        raise InputError(f"--stream {beyond[0]}: {least} reads at most {longest[least]} tokens; use a shorter one")
    if beyond:
        info(f"without {' and '.join(beyond)}: {least} reads at most {longest[least]} tokens")
    return [stream for stream in requested or STREAMS if stream not in beyond]


def positions_in(folder: Path) -> int:
    """The longest text for a model, or for every model of a cascade."""
    found = model_folders(folder, read_cascade_plan(folder)) if is_cascade(folder) else [folder]
    configs = [check_model_folder(home) for home in found]
    return min(text_positions(config) if stated_positions(config) else MOST_POSITIONS for config in configs)


def bench(models: Mapping[str, tuple[Path, str]], streams: Sequence[str], rounds: int, threads: int | None) -> Json:
    """The speed of all models, given by label as folder and engine, on each stream; ratios are to the first of them."""
    result: Json = {"version": 1, "streams": {}}
    for stream in streams:
        runners: dict[str, Callable[[Sequence[Input]], object]] = {}
        for label, (folder, engine) in models.items():
            predictor = open_predictor(folder, engine, threads, STREAMS[stream] or None)
            if (kind := predictor.answer_type.to_json()["kind"]) not in ANSWERS:
                raise InputError(
                    f"{folder}: bench runs models that read a text and answer with a {', '.join(ANSWERS[:-1])} or {ANSWERS[-1]}, not with {kind}"
                )
            runners[label] = predictor.values
        found = race(runners, texts_of(stream, COUNTS[stream]), next(iter(runners)), rounds)
        result["streams"][stream] = {"tokens": STREAMS[stream] or None, **found}
    return result
