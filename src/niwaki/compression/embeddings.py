"""Compresses sentence encoders: quantized copies, judged by how close their embeddings are to the source's.

The score is the mean cosine between the embeddings of source and candidate. Half of the texts choose the candidate, the other half
give its test score.
"""

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from niwaki.compression.candidates import COPIES, SOURCE
from niwaki.compression.judge import Candidate, Found, Goal, choose, judged
from niwaki.core.errors import GateMissed, InputError, UsageError
from niwaki.core.files import commit_folder, fault_in_folder, folder_bytes
from niwaki.core.log import info
from niwaki.engines.export import write_graph
from niwaki.engines.native.program_file import write_program
from niwaki.engines.predictor import Predictor
from niwaki.evaluate.quality import bootstrap_rows, interval
from niwaki.methods._factory import make_method
from niwaki.methods._method import Bakes
from niwaki.models.model import load_folder
from niwaki.run.plan import model_digest
from niwaki.run.quantized import COPY_METHODS

METRIC = "cosine"
SINGLES = 9  # texts that are timed one by one


def compress_encoder(
    source: Path, texts: Sequence[str], goal: Goal, methods: Sequence[str] | None, folder: Path
) -> Found:
    """The smallest copy whose embeddings are close enough. Raises GateMissed if there is none."""
    began = time.monotonic()
    kinds = checked_kinds(methods)
    if len(texts) < 4:
        raise InputError(f"data: {len(texts)} texts are too few to compare embeddings; give at least 4")
    folders = {SOURCE: source} | {f"{SOURCE}-{kind}": copy_of(source, kind, folder) for kind in kinds}
    expected = Predictor(source).encode(list(texts))
    candidates = []
    for name, place in folders.items():
        one = candidate(name, place, folder_bytes(source), texts, expected)
        candidates.append(judged(one, 1.0, goal))
        info(f"{name}: {METRIC} {one.score:.4f}, {one.bytes / 1e6:.1f} MB")
    chosen = choose(candidates, goal.prefer)
    if chosen is None:
        best = max(candidates[1:], key=lambda one: one.score)
        raise GateMissed(
            f"compress: no copy with a mean cosine of {goal.keep:g} is within the budget; the best is {best.name} with "
            f"{best.score:.4f} and {best.bytes / 1e6:.2g} MB; lower keep, or raise the budget"
        )
    return Found(folder, folders[chosen.name], candidates, chosen, time.monotonic() - began)


def checked_kinds(methods: Sequence[str] | None) -> Sequence[str]:
    if methods is None:
        return COPIES
    if isinstance(methods, str) or not methods or not set(methods) <= set(COPIES):
        raise UsageError(
            f"methods: a sentence encoder can be compressed with {' and '.join(COPIES)}; name some of them"
        )
    return [kind for kind in COPIES if kind in methods]


def copy_of(source: Path, kind: str, folder: Path) -> Path:
    """A quantized copy as a model folder, made unless a sound one is there."""
    target = folder / "copies" / f"{kind}-{model_digest(source)[:12]}"
    if target.is_dir() and fault_in_folder(target) is None:
        return target
    method = make_method(dict(COPY_METHODS[kind]), "")
    assert isinstance(method, Bakes)
    model = method.finish(load_folder(source))
    with commit_folder(target) as inside:
        model.save(inside)
        write_graph(model, inside)
        write_program(model, inside)
    return target


def candidate(name: str, folder: Path, whole: int, texts: Sequence[str], expected: np.ndarray) -> Candidate:
    predictor = Predictor(folder)
    cosines = np.sum(predictor.encode(list(texts)) * expected, axis=1)
    chosen_by, test = cosines[::2], cosines[1::2]
    draws = {
        part: [float(rows[picked].mean()) for picked in bootstrap_rows(len(rows), 0)]
        for part, rows in (("a", chosen_by), ("b", test))
    }
    ends, test_ends = interval(draws["a"]), interval(draws["b"])
    score, size = float(chosen_by.mean()), folder_bytes(folder)
    return Candidate(
        name=name,
        score=score,
        kept=score,
        kept_low=ends["low"],
        kept_high=ends["high"],
        test_score=float(test.mean()),
        test_low=test_ends["low"],
        test_high=test_ends["high"],
        bytes=size,
        smaller=whole / size,
        latency_ms=latency(folder, texts),
        faster=None,
        engine=predictor.engine,
    )


def latency(folder: Path, texts: Sequence[str]) -> float:
    """Median of single texts in the engine that `niwaki.load` picks, in milliseconds."""
    predictor = Predictor(folder, "auto")
    times = []
    for text in [texts[0], *texts[:SINGLES]]:  # the first warms up
        start = time.perf_counter()
        predictor.encode([text])
        times.append((time.perf_counter() - start) * 1e3)
    return float(np.median(times[1:]))
