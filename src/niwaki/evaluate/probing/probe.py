"""Probes of several models, side by side: the same examples, control labels and classifiers for all."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.core.log import progress
from niwaki.evaluate.probes._probe import PROBES, Probe, Sentence
from niwaki.evaluate.probing.classifier import Labelled, difference, measured
from niwaki.evaluate.probing.rows import examples_of
from niwaki.evaluate.probing.states import States, states_of
from niwaki.models.model import Model

Open = Callable[[], Model]


def probe(
    models: Mapping[str, Open], sentences: Sequence[Sentence], names: Sequence[str], most: int, seed: int
) -> Json:
    """For each probe and model the figures of every layer. Models are loaded one after the other."""
    chosen, skipped = choose(sentences, names or PROBES.names(), most, seed)
    words = [[str(word) for word in sentence["tokens"]] for sentence in sentences]
    results: Json = {name: about(examples) for name, examples in chosen.items()}
    counts: dict[str, dict[str, np.ndarray]] = {name: {} for name in chosen}
    failed: dict[str, str] = {}
    for label, load in models.items():
        try:
            states = states_of(load(), words, f"{label}: states")
        except InputError as error:
            failed[label] = str(error)
            continue
        with progress(f"{label}: probes", len(chosen)) as update:
            for number, (name, examples) in enumerate(chosen.items()):
                results[name]["models"][label], counts[name][label] = by_layer(examples, states)
                update(number + 1, name)
    if len(failed) == len(models):
        raise InputError(f"probe: {listed(failed)}")
    compare(results, counts)
    return {
        "version": 1,
        "sentences": len(sentences),
        "seed": seed,
        "probes": results,
        "skipped": skipped,
        "failed": failed,
    }


def choose(
    sentences: Sequence[Sentence], names: Sequence[str], most: int, seed: int
) -> tuple[dict[str, Labelled], dict[str, str]]:
    """The examples of each probe that the sentences allow, and why there are none of the others."""
    found = {name: examples_of(PROBES.load(name, Probe)(), sentences, most, seed) for name in names}
    chosen = {name: one for name, one in found.items() if isinstance(one, Labelled)}
    skipped = {name: one for name, one in found.items() if isinstance(one, str)}
    if not chosen:
        raise InputError(f"probe: the rows allow no probe ({listed(skipped)})")
    return chosen, skipped


def listed(reasons: Mapping[str, str]) -> str:
    return "; ".join(f"{name}: {why}" for name, why in reasons.items())


def about(examples: Labelled) -> Json:
    return {
        "train": len(examples.train),
        "test": len(examples.test),
        "labels": len(examples.labels),
        "majority": examples.majority,
        "models": {},
    }


def by_layer(examples: Labelled, states: States) -> tuple[Json, np.ndarray]:
    """All layers, and which one has the shortest description: chosen on training examples alone. With the counts of that layer."""
    layers, counts = [], []
    for number in range(len(states.layers)):
        train, test = (
            states.features(number, np.array([one.sentence for one in side]), [one.places for one in side])
            for side in (examples.train, examples.test)
        )
        figures, stats = measured(examples, train, test)
        layers.append({"layer": number, **figures})
        counts.append(stats)
    best = min(range(len(layers)), key=lambda number: float(layers[number]["bits"]))
    return {"best": best, "layers": layers}, counts[best]


def compare(results: Json, counts: Mapping[str, Mapping[str, np.ndarray]]) -> None:
    """Adds the difference of each model to the first one, at the layers with the shortest descriptions."""
    for name, by_model in counts.items():
        first = next(iter(by_model))
        for label, stats in by_model.items():
            if label != first:
                results[name]["models"][label]["difference"] = {"to": first, **difference(stats, by_model[first])}


def table(found: Json) -> str:
    """A line for each probe and model: accuracy, selectivity and compression at the best layer."""
    lines = [f"{'probe':<17} {'model':<20} {'layer':>5} {'accuracy':>22} {'selectivity':>11} {'MDL':>7}  difference"]
    for name, result in found["probes"].items():
        lines.append(f"{name:<17} {'majority label':<20} {'':>5} {percent(result['majority']):>22}")
        for label, model in result["models"].items():
            best = model["layers"][model["best"]]
            accuracy = best["accuracy"]
            shown = f"{percent(accuracy['value'])} ({percent(accuracy['low'])}–{percent(accuracy['high'])})"
            lines.append(
                f"{'':<17} {label[:20]:<20} {model['best']:>5} {shown:>22} {percent(best['selectivity']['value']):>11} {best['compression']:>6.2f}×  {_difference(model)}".rstrip()
            )
    lines += [f"not probed: {name} ({reason})" for name, reason in {**found["skipped"], **found["failed"]}.items()]
    return "\n".join(lines)


def percent(value: float) -> str:
    return f"{100 * value:.1f}"


def _difference(model: Json) -> str:
    found = model.get("difference")
    return f"{100 * found['value']:+.1f} ({100 * found['low']:+.1f} to {100 * found['high']:+.1f})" if found else ""
