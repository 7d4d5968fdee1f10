"""Times saved models in their engines."""

from collections.abc import Sequence
from pathlib import Path

from niwaki.core.errors import UsageError, did_you_mean
from niwaki.core.json_types import Json
from niwaki.core.model_integrity import display_name, warn_unverified
from niwaki.engines.cascade import engines_of
from niwaki.engines.engine_choice import timed_engines
from niwaki.run.model_path import model_path


def bench(
    models: Sequence[str | Path],
    *,
    engines: Sequence[str] = (),
    streams: Sequence[str] = (),
    rounds: int = 6,
    threads: int | None = None,
) -> Json:
    """Throughput, latency and energy of saved models and cascades, measured in turns on streams of several lengths."""
    from niwaki.evaluate.bench import STREAMS, readable_streams
    from niwaki.evaluate.bench import bench as measure

    for stream in streams:
        if stream not in STREAMS:
            raise UsageError(f"--stream {stream}: is not one{did_you_mean(stream, list(STREAMS))}")
    named = _named(models)
    chosen: dict[str, tuple[Path, str]] = {}
    for name, folder in named.items():
        for engine in engines or timed_engines(engines_of(folder)):
            chosen[f"{name} {engine}"] = (folder, engine)
    measured = measure(chosen, readable_streams(list(named.values()), streams), rounds, threads)
    for folder in named.values():
        warn_unverified(folder)
    return measured


def _named(models: Sequence[str | Path]) -> dict[str, Path]:
    """Model folders by display name, or by the given path if two have the same name."""
    folders = [model_path(model) for model in models]
    if len({folder.resolve() for folder in folders}) < len(folders):
        raise UsageError("bench: a model is given twice; give different ones")
    names = [display_name(folder) for folder in folders]
    return dict(zip(names if len(set(names)) == len(names) else map(str, models), folders, strict=True))
