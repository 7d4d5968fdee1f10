"""Neurons: the outputs of one matrix that one other matrix reads. Some can be left out and nobody else notices."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from niwaki.models.slicing import cut_linear


@dataclass(frozen=True)
class Block:
    """Both matrices are found by their paths from `module`."""

    module: nn.Module
    producer_path: str
    consumer_path: str
    first: int = 0  # which of the consumer's inputs is neuron 0
    copies: int = 1  # how often the consumer reads all its inputs, in the same order
    key: str = ""  # of the config, where it states the number of neurons
    gate_path: str = ""  # of a second producer, whose outputs are multiplied with those of the first

    @property
    def producer(self) -> Any:
        return self.module.get_submodule(self.producer_path)

    @property
    def producers(self) -> list[nn.Module]:
        return [self.module.get_submodule(path) for path in self._producer_paths]

    @property
    def _producer_paths(self) -> list[str]:
        return [path for path in (self.producer_path, self.gate_path) if path]

    @property
    def consumer(self) -> Any:
        return self.module.get_submodule(self.consumer_path)

    @property
    def ffn_size(self) -> int:
        return int(self.producer.out_features)

    def keep(self, neurons: list[int]) -> None:
        """These stay, in this order."""
        every = self.consumer.in_features // self.copies
        others_after = range(self.first + self.ffn_size, every)
        shown = [*range(self.first), *(self.first + number for number in neurons), *others_after]
        inputs = [copy * every + place for copy in range(self.copies) for place in shown]
        consumer = cut_linear(self.consumer, inputs=inputs)
        for path, producer in zip(self._producer_paths, self.producers, strict=True):
            self.module.set_submodule(path, cut_linear(producer, outputs=neurons))
        self.module.set_submodule(self.consumer_path, consumer)

    def share(self, other: "Block") -> None:
        """Takes the matrices of another block."""
        for path, producer in zip(self._producer_paths, other.producers, strict=True):
            self.module.set_submodule(path, producer)
        self.module.set_submodule(self.consumer_path, other.consumer)

    def factors(self, gate: Tensor) -> Tensor:
        """A factor for each neuron as one for each input of the consumer; what others show it is left as it is."""
        every = self.consumer.in_features // self.copies
        before, after = gate.new_ones(self.first), gate.new_ones(every - self.first - self.ffn_size)
        return torch.cat([before, gate, after]).repeat(self.copies)
