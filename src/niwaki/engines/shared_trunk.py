"""One encoder in memory for all heads of a model folder, whose outputs are computed once for each text.

    text ──> tokens ──> encoder with the delta of a head, or without one ──> readings ──> head ──> logits
                        once for each (encoder, tokens), cached

Heads without a delta share the encoder's outputs. A head with a delta (LoRA, biases, adapters, prompts) shares the weights of the encoder,
and has outputs of its own. Every text is computed by itself: its answer has the same bits whatever else is in its batch, and whether or
not its encoder outputs were cached.
"""

import hashlib
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from niwaki.answers._answer_type import EncodedInputs
from niwaki.core.errors import InputError
from niwaki.core.files import fingerprint, sha256
from niwaki.core.head_folder import HEAD_WEIGHTS, existing_head, is_head_folder
from niwaki.core.tensor_file import read_header
from niwaki.engines.encoder_cache import EncoderCache, Readings
from niwaki.engines.input_encoder import InputEncoder
from niwaki.engines.runtime import Runtime
from niwaki.engines.runtimes.torch import Torch
from niwaki.models.family import family_of
from niwaki.models.trunk import TRUNK_FILES, is_of_head, trunk_digest, trunk_name

if TYPE_CHECKING:
    from torch import Tensor, nn

    from niwaki.models.anatomy import Anatomy

WHOLE = "logits"  # in place of readings: of a head that cannot be separated from its encoder


@dataclass
class Encoder:
    """The trunk, with the delta of a head or without one."""

    digest: str
    anatomy: "Anatomy"
    readings: set[str] = field(default_factory=set)  # what its heads read


class SharedTrunk:
    """Opens the heads of a folder; "" is the folder's own head. `encoder_calls` counts the sequences that were encoded."""

    def __init__(self, folder: Path, heads: Mapping[str, str], cache: EncoderCache, threads: int) -> None:
        """`heads`: names, and the names of their folders below `heads`."""
        from niwaki.models.model import load_folder
        from niwaki.models.readings import reading_of

        self.folder, self.cache, self.threads = folder, cache, threads
        self.encoder_calls = 0
        self._input_encoders: dict[tuple[str, int], InputEncoder] = {}
        self._counting = threading.Lock()
        self.homes = {name: existing_head(folder, head) if head else folder for name, head in heads.items()}
        self.encoders: dict[str, Encoder] = {}
        self.members: dict[str, tuple[Encoder, Anatomy]] = {}
        main = load_folder(folder)
        if main.anatomy.is_seq2seq:
            raise InputError(f"{folder}: generates text, so its encoder is not shared; load it with niwaki.load")
        trunk, first = trunk_digest(folder), main.network
        for name, home in self.homes.items():
            model = load_folder(home)
            share_weights(first, model.network)
            digest, reading = encoder_digest(home, trunk), reading_of(model.anatomy)
            if reading is None:
                digest = fingerprint([digest, *(sha256(path) for path in sorted(home.glob("*.safetensors")))])
            encoder = self.encoders.setdefault(digest, Encoder(digest, model.anatomy))
            encoder.readings.add(reading or WHOLE)
            self.members[name] = encoder, model.anatomy

    def runtime(self, name: str) -> "HeadRuntime":
        """One head as an engine."""
        return HeadRuntime(self, name)

    def same_input_encoder(self, given: InputEncoder) -> InputEncoder:
        """The first one that encodes as this one does: a tokenizer takes 10 MB."""
        kind = json.dumps(given.answer_type.to_json(), sort_keys=True)
        return self._input_encoders.setdefault((kind, given.max_tokens), given)

    def readings(self, encoder: Encoder, inputs: "Mapping[str, Tensor]") -> Readings:
        """What the heads of an encoder read of one sequence (1, tokens)."""
        digest = hashlib.sha256(f"{encoder.digest} {sorted(encoder.readings)}\n".encode())
        for name, value in sorted(inputs.items()):
            digest.update(f"{name} {tuple(value.shape)}\n".encode() + value.numpy().tobytes())
        return self.cache.get_or_compute(digest.hexdigest(), lambda: self._encode(encoder, inputs))

    def _encode(self, encoder: Encoder, inputs: "Mapping[str, Tensor]") -> Readings:
        from niwaki.models.forward import run
        from niwaki.models.readings import encode

        with self._counting:
            self.encoder_calls += 1
        if WHOLE in encoder.readings:
            found = {WHOLE: run(encoder.anatomy, inputs, {})}
        else:
            found = encode(encoder.anatomy, inputs, encoder.readings)
        return {name: np.ascontiguousarray(states.detach().float().numpy()) for name, states in found.items()}


class HeadRuntime(Torch):
    """A head of a shared trunk."""

    def __init__(self, trunk: SharedTrunk, name: str) -> None:
        from niwaki.models.pairs import reads_token_types

        Runtime.__init__(self, trunk.homes[name], trunk.threads)
        self.trunk, (self.encoder, self.anatomy) = trunk, trunk.members[name]
        self.network, self.search, self.generates = self.anatomy.network.eval(), None, False
        if not reads_token_types(self.anatomy):
            self.inputs = ("input_ids", "attention_mask")

    def run(
        self, encoded: EncodedInputs, sequences: np.ndarray, pad_id: int, use_all_threads: bool = False
    ) -> np.ndarray:
        return np.concatenate([self._one(encoded.padded(sequences[[n]], pad_id)) for n in range(len(sequences))])

    def _one(self, arrays: Mapping[str, np.ndarray]) -> np.ndarray:
        (found,) = self._call(self._answer, arrays)
        return found[0] if found.ndim == 3 else found

    def _answer(self, inputs: "dict[str, Tensor]") -> "tuple[Tensor, ...]":
        import torch

        from niwaki.models.readings import head_logits, reading_of

        found = self.trunk.readings(self.encoder, inputs)
        reading = reading_of(self.anatomy)
        if reading is None:
            return (torch.from_numpy(found[WHOLE]),)
        dtype = next(self.network.parameters()).dtype
        return (head_logits(self.anatomy, torch.from_numpy(found[reading]).to(dtype)),)


def encoder_digest(home: Path, trunk: str) -> str:
    """A digest of what determines the encoder's outputs for a head: the trunk's, unless the head brings a delta or biases."""
    if not is_head_folder(home):
        return trunk
    from niwaki.models.config_rules import read as read_config

    body = family_of(str(read_config(home).get("model_type"))).body
    _, tensors = read_header(home / HEAD_WEIGHTS)
    if all(is_of_head(name, body) for name in tensors):
        return trunk
    files = [HEAD_WEIGHTS, *(name for name in TRUNK_FILES if (home / name).is_file())]
    return fingerprint([trunk, *(sha256(home / name) for name in files)])


def share_weights(first: "nn.Module", other: "nn.Module") -> None:
    """Lets `other` use the tensors of `first` that are equal to its own, so that they are in memory once."""
    own = {trunk_name(name): value for name, value in first.state_dict(keep_vars=True).items()}
    for path, module in other.named_modules():
        for stores in (module._parameters, module._buffers):
            for key, value in stores.items():
                mine = own.get(trunk_name(f"{path}.{key}"))
                if value is not None and mine is not None and same(mine, value):
                    stores[key] = mine


def same(first: "Tensor", second: "Tensor") -> bool:
    import torch

    return first.dtype == second.dtype and first.shape == second.shape and torch.equal(first, second)
