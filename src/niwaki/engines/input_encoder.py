"""Inputs to token ids, with a model's tokenizer and within the limits of its vocabulary; or images to pixels, with its preprocessor."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from niwaki.answers._answer_type import AnswerType, EncodedInputs, Input, with_truncation
from niwaki.core.errors import InputError, first_line, is_panic
from niwaki.core.json_types import Json
from niwaki.engines.native.wordpiece import Wordpiece
from niwaki.models.config_rules import CONFIG
from niwaki.models.input_readers import as_encoder, reads_images
from niwaki.models.preprocessor import load_preprocessor
from niwaki.models.tokenizer_loading import plain_tokenizer
from niwaki.tokenization.tokenizer_rules import read_text
from niwaki.tokenization.tokenizing import encode

TOKENIZER = "tokenizer.json"


class BadInputs(InputError):
    """Inputs that passed the checks and cannot be encoded."""

    row_error = ""  # for an input that was read from a file

    def __init__(self, message: str, numbers: list[int]) -> None:
        super().__init__(message)
        self.numbers = numbers


class NoTokens(BadInputs):
    """Inputs whose texts have no tokens at all, not even special tokens, so that there is nothing to answer."""

    row_error = "has a text of which the tokenizer makes no tokens"

    def __init__(self, numbers: list[int]) -> None:
        super().__init__(
            f"texts.{numbers[0]}: the tokenizer makes no tokens of it; remove it, it has no answer", numbers
        )


class UnreadableImages(BadInputs):
    """Files that hold no image."""

    row_error = "names a file that cannot be read as an image"


class InputEncoder:
    """The tokenizer of a model folder, applied as the answer type wants it. `reads_types`: whether the network reads token types."""

    def __init__(
        self, folder: Path, config: Mapping[str, Any], answer_type: AnswerType, max_tokens: int, reads_types: bool
    ) -> None:
        self.path, self.answer_type, self.max_tokens = folder / TOKENIZER, answer_type, max_tokens
        self.vocabulary_size: int | None = config.get("vocab_size")
        tokenizer = read_tokenizer(self.path) if self.path.is_file() else plain_tokenizer(folder, dict(config))
        check_token_limit(tokenizer, max_tokens, folder / CONFIG)
        self.tokenizer = with_truncation(tokenizer, max_tokens)
        with tokenizer_errors(self.path):
            self._may_be_empty = not encode(self.tokenizer, "").ids  # no special tokens are added
            self._type_limit = self._type_limit_of(config) if reads_types else None

    def __call__(self, inputs: Sequence[Input]) -> EncodedInputs:
        with tokenizer_errors(self.path):
            encoded = self._wordpiece(inputs, self._encode) if self._wordpiece else self._encode(inputs)
        self._check(encoded)
        return encoded

    def _encode(self, inputs: Sequence[Input]) -> EncodedInputs:
        return self.answer_type.encode(inputs, self.tokenizer, self.max_tokens)

    @cached_property
    def _wordpiece(self) -> Wordpiece | None:
        """niwaki's own tokenizer in C, if the answer type takes plain texts and the tokenizer is like BERT's."""
        takes_texts = type(self.answer_type).encode is AnswerType.encode
        return Wordpiece.of(self.tokenizer, self.max_tokens) if takes_texts else None

    def _type_limit_of(self, config: Mapping[str, Any]) -> int | None:
        """The number of token types of the model, if the tokenizer may give higher ones."""
        known: int | None = config.get("type_vocab_size") or None  # 0: the network reads none
        highest = max(1, *encode(self.tokenizer, "a", "a").type_ids)  # 1: some answer types mark words with it
        return known if known is not None and known <= highest else None

    def _check(self, encoded: EncodedInputs) -> None:
        """Rejects ids that are outside the model's embedding tables."""
        largest = int(encoded.ids.values.max(initial=0))
        if self.vocabulary_size is not None and largest >= self.vocabulary_size:
            raise InputError(f"{self.path}: gives token id {largest}, and the model has {self.vocabulary_size} tokens")
        if self._may_be_empty and not encoded.ids.lengths.all():
            empty = np.flatnonzero(encoded.ids.lengths == 0)
            raise NoTokens(sorted({int(encoded.input_index[sequence]) for sequence in empty}))
        if self._type_limit is not None and (highest := int(encoded.types.values.max(initial=0))) >= self._type_limit:
            raise InputError(
                f"{self.path}: gives token type {highest}, and the model has {self._type_limit}; give single texts, or a tokenizer whose types are below that"
            )


class ImageEncoder(InputEncoder):
    """The preprocessor of a model folder, in the place of a tokenizer."""

    def __init__(self, folder: Path, config: Json, answer_type: AnswerType) -> None:
        self.answer_type, self.preprocessor = answer_type, load_preprocessor(folder, config)
        self.max_tokens = self.preprocessor.tokens

    def __call__(self, inputs: Sequence[Input]) -> EncodedInputs:
        try:
            return self.answer_type.encode(inputs, as_encoder(self.preprocessor), self.preprocessor.tokens)
        except InputError:
            if faults := list(self._faults(inputs)):
                raise UnreadableImages(faults[0][1], [number for number, _ in faults]) from None
            raise

    def _faults(self, inputs: Sequence[Input]) -> Iterator[tuple[int, str]]:
        for number, image in enumerate(inputs):
            try:
                self.preprocessor.pixels(image)
            except InputError as error:
                yield number, str(error)


def open_encoder(
    folder: Path, config: Json, answer_type: AnswerType, max_tokens: int, reads_types: bool
) -> InputEncoder:
    """What the model's family reads decides."""
    if reads_images(config):
        return ImageEncoder(folder, config, answer_type)
    return InputEncoder(folder, config, answer_type, max_tokens, reads_types)


def read_tokenizer(path: Path) -> Tokenizer:
    """The tokenizer of a checked file. It encodes one pair, because some faults only show then."""
    text = read_text(path)
    with tokenizer_errors(path):
        tokenizer = Tokenizer.from_str(text)
        encode(tokenizer, "A text, 1 of 2: naïve 日本語 \u0300 .", "and another")
    return tokenizer


@contextlib.contextmanager
def tokenizer_errors(path: Path) -> Iterator[None]:
    """Turns errors of the tokenizers library, including panics, into one line."""
    try:
        yield
    except InputError:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        raise InputError(f"{path}: cannot be read ({first_line(error)})") from None


def check_token_limit(tokenizer: Tokenizer, max_tokens: int, where: Path) -> None:
    """Rejects a limit that the special tokens alone reach: the tokenizers library would then truncate nothing."""
    special = tokenizer.num_special_tokens_to_add(True)
    if max_tokens <= special:
        raise InputError(
            f"{where}: texts are truncated to {max_tokens} tokens, and a pair has {special} special tokens; niwaki_max_tokens must be more"
        )
