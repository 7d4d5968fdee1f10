"""All heads of a model folder at once: one text, an answer from each head; or each text with the head that it names."""

from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from niwaki.answers._answer_type import Answer, EncodedInputs, Input, check_inputs
from niwaki.answers._capabilities import NeedsFiles
from niwaki.answers._from_config import is_bare_encoder
from niwaki.core.errors import InputError, UsageError, did_you_mean
from niwaki.core.head_folder import existing_head, head_names
from niwaki.core.json_types import Json
from niwaki.core.system import usable_cores
from niwaki.engines.encoder_cache import EncoderCache
from niwaki.engines.predictor import Predictor
from niwaki.engines.runtime import Runtime
from niwaki.engines.shared_trunk import SharedTrunk
from niwaki.models.config_rules import read as read_config

MAIN, ALL = "main", "all"  # the head of the model folder itself; every head that answers a task
CHUNK = 64  # texts that all heads answer before the next ones are encoded, so that the cache need not be large


@dataclass
class HeadAnswers(Answer):
    """The answer of each head."""

    heads: dict[str, Answer]

    def line(self) -> str:
        return "  ".join(f"{name}={answer.line()}" for name, answer in self.heads.items())

    def record(self) -> Json:
        return {"heads": {name: answer.record() for name, answer in self.heads.items()}}


class HeadPredictor(Predictor):
    """One head of a shared trunk."""

    def __init__(self, trunk: SharedTrunk, name: str) -> None:
        self._trunk, self._name = trunk, name
        super().__init__(trunk.homes[name], "torch", trunk.threads)
        if not isinstance(self.answer_type, NeedsFiles):
            self.encoder = trunk.same_input_encoder(self.encoder)

    def _open_runtime(self, runtime: type[Runtime]) -> Runtime:
        return self._trunk.runtime(self._name)


class Heads(Predictor):
    """`niwaki.load_heads(folder)`. `heads` has a predictor for each name."""

    def __init__(
        self,
        folder: Path,
        names: str | Sequence[str] = ALL,
        threads: int | None = None,
        cache: EncoderCache | None = None,
    ) -> None:
        self.folder, self.threads, self.engine = folder, threads or usable_cores(), "torch"
        chosen = chosen_heads(folder, names)
        places = {name: "" if name == MAIN else name for name in chosen}
        self.trunk = SharedTrunk(folder, places, cache or EncoderCache(), self.threads)
        self.heads = {name: HeadPredictor(self.trunk, name) for name in chosen}
        first = self.heads[chosen[0]]
        self.answer_type, self.labels, self.exits = first.answer_type, [], []
        self.max_tokens = max(one.max_tokens for one in self.heads.values())

    def tokenize(self, inputs: Sequence[Input]) -> EncodedInputs:
        """Token ids of the first head; the others encode the inputs as their answer type does."""
        self._check_alike()
        return next(iter(self.heads.values())).tokenize(inputs)

    def check(self, texts: Input | Sequence[Input]) -> list[Input]:
        self._check_alike()
        return super().check(texts)

    def answers(self, inputs: Sequence[Input], encoded: EncodedInputs) -> list[object]:
        return self.predict_rows(inputs, encoded)

    def predict_rows(self, inputs: Sequence[Input], encoded: EncodedInputs, bare: bool = False) -> list[object]:
        found: list[object] = []
        for start in range(0, len(inputs), CHUNK):
            part = inputs[start : start + CHUNK]
            by_head = {name: one.values(part) if bare else answered(one, part) for name, one in self.heads.items()}
            each = ({name: answers[number] for name, answers in by_head.items()} for number in range(len(part)))
            found += each if bare else map(HeadAnswers, each)
        return found

    def predict_mixed(self, texts: Sequence[Input], heads: Sequence[str]) -> list[object]:
        """The answer to each text by the head named for it. Texts of all heads are computed together, on all threads, and each answer has
        the bits that it has alone."""
        if isinstance(texts, str) or len(texts) != len(heads):
            raise UsageError("predict_mixed: give a list of texts, and a head for each")
        places: dict[str, list[int]] = defaultdict(list)
        for number, name in enumerate(heads):
            if name not in self.heads:
                raise UsageError(f"heads.{number}: there is no head '{name}'{did_you_mean(name, list(self.heads))}")
            places[name].append(number)
        inputs = {
            name: check_inputs(self.heads[name].answer_type, [texts[n] for n in of]) for name, of in places.items()
        }
        self._encode_together(inputs)
        found: list[object] = [None] * len(texts)
        for name, numbers in places.items():
            for number, answer in zip(numbers, answered(self.heads[name], inputs[name]), strict=True):
                found[number] = answer
        return found

    def _encode_together(self, inputs: dict[str, list[Input]]) -> None:
        """Puts the encoder outputs of all texts into the cache, whatever their heads, on all threads."""
        if self.threads == 1:
            return
        encoded = {name: self.heads[name].tokenize(some) for name, some in inputs.items()}
        jobs = [(name, number) for name, rows in encoded.items() for number in range(len(rows.lengths))]

        def run(job: tuple[str, int]) -> None:
            name, number = job
            one = self.heads[name]
            one.runtime.run(encoded[name], np.array([number]), one.scheduler.pad_id)

        list(self._pool.map(run, jobs))

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.threads, thread_name_prefix="niwaki-heads")

    def take_alike(self) -> bool:
        """Whether all heads take the same inputs, so that all can answer one text."""
        return len({one.answer_type.input_description for one in self.heads.values()}) == 1

    def _check_alike(self) -> None:
        kinds = {name: one.answer_type.input_description for name, one in self.heads.items()}
        first = next(iter(kinds))
        for name, kind in kinds.items():
            if kind != kinds[first]:
                raise UsageError(
                    f"{self.folder}: head '{name}' takes {kind}, and '{first}' takes {kinds[first]}; name heads that take the same inputs"
                )

    def __repr__(self) -> str:
        return f"Heads({str(self.folder)!r}, heads={list(self.heads)})"


def answered(predictor: Predictor, inputs: Sequence[Input]) -> list[Answer]:
    return predictor.answers(inputs, predictor.tokenize(inputs))


def chosen_heads(folder: Path, names: str | Sequence[str]) -> list[str]:
    """The names of heads, each once. `all` is every head, with that of the model folder if it answers a task."""
    given = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    further = head_names(folder)
    if given == [ALL]:
        if not further:
            raise InputError(f"{folder}: has no further heads; add one with `niwaki add {folder} MODEL`")
        return [*([] if is_bare_encoder(read_config(folder)) else [MAIN]), *further]
    for name in given:
        if name != MAIN:
            existing_head(folder, name)
    if not given:
        raise UsageError("heads: name at least one, or give 'all'")
    return list(dict.fromkeys(given))
