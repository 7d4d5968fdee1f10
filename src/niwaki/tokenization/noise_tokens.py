"""What noise knows of a tokenizer: sentinels, the mask token, ordinary tokens, and tokens that end sentences."""

from dataclasses import dataclass

import numpy as np
from tokenizers import Tokenizer, decoders

from niwaki.core.errors import InputError
from niwaki.tokenization.encoder_tokenizer import MASK
from niwaki.tokenization.training import SPECIAL_TOKENS
from niwaki.tokenization.windows import special_tokens

SENTINEL = "<extra_id_{}>"
MASKS = (MASK, "<mask>")
SENTENCE_ENDS = (".", "!", "?", "。", "！", "？")
BYTE_SPACE = "Ġ"  # how byte-level BPE writes a space


@dataclass(frozen=True)
class NoiseTokens:
    sentinels: np.ndarray  # ids in order
    mask_id: int  # without a mask token the first sentinel; -1 where there is neither
    ordinary: np.ndarray  # ids that may replace others
    ends_sentence: np.ndarray  # (vocabulary,)
    before: np.ndarray  # ids of the special tokens before a text
    after: np.ndarray  # and behind it

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> "NoiseTokens":
        vocabulary = tokenizer.get_vocab(with_added_tokens=True)
        sentinels = sentinel_ids(vocabulary)
        masks = [vocabulary[name] for name in MASKS if name in vocabulary]
        before, after = special_tokens(tokenizer)
        special = {number for number, token in tokenizer.get_added_tokens_decoder().items() if token.special}
        special |= {vocabulary[name] for name in SPECIAL_TOKENS if name in vocabulary}
        special |= {*masks, *sentinels, *before.tolist(), *after.tolist()}
        ends = np.zeros(max(vocabulary.values()) + 1, dtype=bool)
        byte_level = any(name.startswith(BYTE_SPACE) for name in vocabulary)
        for name, number in vocabulary.items():
            text = decoders.ByteLevel().decode([name]) if byte_level else name
            ends[number] = number not in special and text.endswith(SENTENCE_ENDS)
        ordinary = np.array(sorted(set(vocabulary.values()) - special), dtype=np.int64)
        mask_id = (masks or sentinels or [-1])[0]
        return cls(np.array(sentinels, dtype=np.int64), mask_id, ordinary, ends, before, after)

    def body(self, ids: np.ndarray) -> np.ndarray:
        """A sequence without the special tokens around it."""
        return ids[len(self.before) : len(ids) - len(self.after)]

    def whole(self, body: np.ndarray) -> np.ndarray:
        """The reverse of `body`."""
        return np.concatenate([self.before, body, self.after])


def sentinel_ids(vocabulary: dict[str, int]) -> list[int]:
    """Ids of the sentinel tokens, the first one first."""
    found: list[int] = []
    while (number := vocabulary.get(SENTINEL.format(len(found)))) is not None:
        found.append(number)
    return found


def require(known: NoiseTokens, sentinels: int, what: str) -> None:
    """Rejects a tokenizer without sentinels or without a mask token."""
    if len(known.sentinels) < sentinels:
        raise InputError(
            f"objective: {what} needs sentinel tokens such as {SENTINEL.format(0)}, and the model's tokenizer has "
            f"{len(known.sentinels)}; make the network with 'from_scratch', or take 'text_denoising'"
        )
    if known.mask_id < 0:
        raise InputError(
            f"objective: {what} needs a mask token or sentinels, and the model's tokenizer has none; make the network with 'from_scratch'"
        )
