"""What some answer types can do beyond the `AnswerType` interface. Callers check with `isinstance`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol, Self, TypeVar, runtime_checkable

import numpy as np

from niwaki.answers._answer_type import AnswerType, EncodedInputs, Input
from niwaki.answers._beam_search import SearchSettings

AnyAnswerType = TypeVar("AnyAnswerType", bound=AnswerType)


@runtime_checkable
class HasConfidence(Protocol):
    def confidence(
        self, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], labels: list[str]
    ) -> np.ndarray:
        """(inputs,) from 0 to 1: the confidence of the model in each answer. Types with early exits use the logits only."""


@runtime_checkable
class GeneratesTokens(Protocol):
    """Is answered by an encoder-decoder, token by token."""

    @property
    def search(self) -> SearchSettings:
        """How texts are searched for, with the tokens that they start and end with."""


@runtime_checkable
class ChoosesOne(Protocol):
    """The answer is one of several candidates with a logit each, so a temperature can be fitted."""

    def candidate_logits(self, logits: np.ndarray, rows: EncodedInputs) -> np.ndarray:
        """(inputs, candidates), -inf where an input has fewer candidates."""


@runtime_checkable
class ReducesLogits(Protocol):
    """Reads so few of the logits that they are reduced batch by batch: those of a whole vocabulary would fill the memory."""

    def reduce(self, logits: np.ndarray, rows: EncodedInputs, sequences: np.ndarray) -> np.ndarray:
        """Logits of some sequences, (sequences, labels) or (their tokens, labels), to (sequences, numbers)."""


@runtime_checkable
class NeedsFiles(Protocol):
    """Needs files next to the network, in the model's folder."""

    @classmethod
    def required_files(cls, settings: Mapping[str, object]) -> tuple[str, ...]:
        """Names of the files, for the settings in a model's config."""

    def load_files(self, folder: Path, labels: list[str]) -> Self:
        """The answer type with the content of its files. Rejects files that do not belong to a network with these labels."""


@runtime_checkable
class TwoPass(Protocol):
    """Asks the model a second time, about what the first pass found."""

    def second_pass_inputs(self, answers: Sequence[object]) -> list[Input]:
        """Inputs of the second pass; none if the first answers are complete."""

    def merge_second_pass(self, answers: Sequence[object], second: Sequence[object]) -> list[object]:
        """The answers of the first pass completed by those of the second."""


def load_answer_files(answer_type: AnyAnswerType, folder: Path, labels: list[str]) -> AnyAnswerType:
    """The answer type with the files that it needs, if it needs any."""
    return answer_type.load_files(folder, labels) if isinstance(answer_type, NeedsFiles) else answer_type


def confidence_of(
    answer_type: AnswerType, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], labels: list[str]
) -> np.ndarray:
    """(inputs,) of an answer type that has a confidence."""
    if not isinstance(answer_type, HasConfidence):
        raise TypeError(f"{type(answer_type).__name__} has no confidence")
    return answer_type.confidence(logits, rows, inputs, labels)
