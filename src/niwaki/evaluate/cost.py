"""What a forward pass costs by length of the text and part of the network, and from which length cheaper attention pays.

Operations are those of torch's counter, time is processor time of one thread. Parts are timed in torch; whole models, and the conversions that are compared, as exported graphs in ONNX
Runtime.
"""

import contextlib
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.core.log import progress
from niwaki.engines.export import write_graph
from niwaki.engines.runtimes.onnx import Onnx
from niwaki.methods import METHODS
from niwaki.methods._method import Method, Reshapes
from niwaki.models.edits.positions import Positions
from niwaki.models.forward import embedded, head_logits
from niwaki.models.layer import FEED_FORWARD, MIXER, mixed_rows
from niwaki.models.layout import Layout, Padded
from niwaki.models.model import Model
from niwaki.models.position_bias import set_position_bias

PARTS = EMBEDDINGS, _, _, HEAD = ("embeddings", MIXER, FEED_FORWARD, "head")
CONVERSIONS: dict[str, Json] = {
    "window": {},
    "linear_attention": {},
    "fourier": {"attention_layers": 0},
    "linear_mixing": {"attention_layers": 0},
    "token_dropping": {},
}
LAPS, SHORTEST = 3, 0.02  # runs of each length; seconds that a run takes at least, by repeating


@dataclass
class Part:
    """Of one length: operations and seconds for one text."""

    operations: int = 0
    seconds: float = 0.0


def cost(model: Model, lengths: Sequence[int], compare: bool) -> Json:
    """`lengths` in tokens. With `compare`, conversions of the model are timed too."""
    anatomy = model.anatomy
    if not anatomy.layers or anatomy.is_seq2seq:
        raise InputError(
            "show cost: only encoders and language models with layers are taken apart; `niwaki bench` times all others"
        )
    if anatomy.family.inputs.reads == "images":  # all of one size, too few tokens for cheaper attention to pay
        lengths, compare = [anatomy.max_tokens], False
    if max(lengths) > anatomy.max_tokens:
        model = extended(model, max(lengths))
    by_length = {length: parts_of(model, length) for length in lengths}
    found: Json = {
        "layers": len(anatomy.order),
        "mixers": [layer.mixer.label() for layer in anatomy.layers],
        "bytes": bytes_of(model),
        "lengths": [
            {"tokens": length, "parts": {name: vars(part) for name, part in parts.items()}}
            for length, parts in by_length.items()
        ],
    }
    return {**found, **compared(model, lengths)} if compare else found


def extended(model: Model, tokens: int) -> Model:
    """A copy that reads longer texts, to time it."""
    longer = model.clone()
    longer.apply_edit(Positions(tokens=tokens))
    return longer


@torch.no_grad()
def parts_of(model: Model, tokens: int) -> dict[str, Part]:
    """Operations once, and the median of the seconds of some passes."""
    model.network.eval()
    counted = {name: Part() for name in PARTS}
    with FlopCounterMode(display=False) as counter:
        _pass(model, tokens, lambda name: _counted(counted[name], counter))
    laps = [{name: Part() for name in PARTS} for _ in range(LAPS + 1)]
    for lap in laps:
        _pass(model, tokens, lambda name, lap=lap: _timed(lap[name]))  # type: ignore[misc]
    for name, part in counted.items():
        part.seconds = statistics.median(lap[name].seconds for lap in laps[1:])  # the first one warms up
    return counted


Watch = Callable[[str], contextlib.AbstractContextManager[None]]


def _pass(model: Model, tokens: int, watch: Watch) -> None:
    """The padded forward pass, part by part."""
    anatomy = model.anatomy
    every = anatomy.head.per_token or anatomy.head.pools
    with watch(EMBEDDINGS):
        rows, mask, types = embedded(anatomy, anatomy.inputs.example(1, tokens))
        layout: Layout = Padded(mask, rows, causal=anatomy.is_causal)
        layout.types = types
        set_position_bias(anatomy, rows, layout)
    for depth, number in enumerate(anatomy.order):
        layer, is_last = anatomy.layers[number], depth == len(anatomy.order) - 1
        with watch(MIXER):
            rows, layout = mixed_rows(layer, rows, layout, every or not is_last, {})
        with watch(FEED_FORWARD):
            rows = layer.feed(rows, layout, {})
    with watch(HEAD):
        head_logits(anatomy, rows, layout, every, {})


@contextlib.contextmanager
def _counted(part: Part, counter: FlopCounterMode) -> Iterator[None]:
    before = counter.get_total_flops()
    yield
    part.operations += counter.get_total_flops() - before


@contextlib.contextmanager
def _timed(part: Part) -> Iterator[None]:
    start = time.process_time()
    yield
    part.seconds += time.process_time() - start


def bytes_of(model: Model) -> dict[str, int]:
    """Bytes of the weights of each part. A text reads only its own rows of the tables among the embeddings."""
    anatomy = model.anatomy
    modules: dict[str, list[nn.Module]] = {
        EMBEDDINGS: anatomy.inputs.modules,
        **{
            slot: [layer.part(role) for layer in anatomy.layers for role in layer.matrices(slot)]
            for slot in (MIXER, FEED_FORWARD)
        },
    }
    for slot in (MIXER, FEED_FORWARD):
        own = (getattr(layer, slot) for layer in anatomy.layers)
        modules[slot] += [part for part in own if isinstance(part, nn.Module)]
    found = {name: _bytes(some) for name, some in modules.items()}
    return {**found, "others": _bytes([model.network]) - sum(found.values())}


def _bytes(modules: Sequence[nn.Module]) -> int:
    tensors = {id(tensor): tensor for module in modules for tensor in module.state_dict(keep_vars=True).values()}
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors.values())


def compared(model: Model, lengths: Sequence[int]) -> Json:
    """Seconds of the model and its conversions as exported graphs, and the length from which each is faster than the model."""
    with tempfile.TemporaryDirectory() as home, progress("cost", len(CONVERSIONS) + 1) as update:
        engines, rejected = {"unchanged": _engine(model, Path(home) / "unchanged")}, {}
        for number, (name, settings) in enumerate(CONVERSIONS.items(), start=1):
            update(number, name)
            try:
                engines[name] = _engine(converted(model, name, settings), Path(home) / name)
            except InputError as error:
                rejected[name] = str(error)
        seconds = interleaved(engines, {length: _arrays(model, length) for length in lengths})
    return {
        "conversions": [
            {
                "name": name,
                "seconds": times,
                "break_even": None if name == "unchanged" else break_even(seconds["unchanged"], times),
            }
            for name, times in seconds.items()
        ],
        "rejected": rejected,
    }


def converted(model: Model, name: str, settings: Mapping[str, object]) -> Model:
    """A copy with other parts, whose new weights are random: only its cost is measured."""
    method = METHODS.load(name, Method)(**settings)
    return cast(Reshapes, method).dry_prepare(model.clone())


def _engine(model: Model, folder: Path) -> Onnx:
    folder.mkdir()
    model.save(folder)
    write_graph(model, folder)
    return Onnx(folder, 1)


def interleaved(
    engines: Mapping[str, Onnx], inputs: Mapping[int, Mapping[str, np.ndarray]]
) -> dict[str, dict[int, float]]:
    """Seconds of one text by engine and length, the median of laps in which every engine runs every length."""
    laps: dict[str, dict[int, list[float]]] = {name: {length: [] for length in inputs} for name in engines}
    for lap in range(LAPS + 1):
        for length, arrays in inputs.items():
            for name, engine in engines.items():
                spent = _seconds(engine, arrays)
                if lap:
                    laps[name][length].append(spent)
    return {name: {length: statistics.median(times) for length, times in by.items()} for name, by in laps.items()}


def _arrays(model: Model, tokens: int) -> dict[str, np.ndarray]:
    return {name: value.numpy() for name, value in model.anatomy.inputs.example(1, tokens).items()}


def _seconds(engine: Onnx, arrays: Mapping[str, np.ndarray]) -> float:
    start, runs = time.process_time(), 0
    while not runs or time.process_time() - start < SHORTEST:
        engine.logits(dict(arrays))
        runs += 1
    return (time.process_time() - start) / runs


def break_even(before: Mapping[int, float], after: Mapping[int, float]) -> int | None:
    """The length from which on a conversion is faster at all lengths that were timed, on a straight line between the last one where it is not and the
    next; the first length if it always is, None if it is not at the last."""
    lengths = sorted(before)
    saved = [before[length] - after[length] for length in lengths]
    slower = [place for place, each in enumerate(saved) if each <= 0]
    if not slower:
        return lengths[0]
    place = slower[-1]
    if place == len(lengths) - 1:
        return None
    low, high = lengths[place], lengths[place + 1]
    return round(low + (high - low) * -saved[place] / (saved[place + 1] - saved[place]))
