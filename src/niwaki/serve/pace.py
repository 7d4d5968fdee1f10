"""Estimates of a model's speed, from the batches that it computed: seconds per token and characters per token.

They decide how many texts form a batch, how long a request would wait, and whether a silent worker is stuck.
"""

import math
from dataclasses import dataclass

MEMORY = 0.9  # weight of the past per batch: the last ten batches count most
FIRST_CHARACTERS = 4.0  # per token, until the first batch was measured
SPECIAL_TOKENS = 2


@dataclass
class Pace:
    """Sums that fade, so that large batches count more than small ones."""

    max_tokens: int  # tokens after which texts are truncated
    seconds: float = 0.0
    tokens: float = 0.0
    characters: float = 0.0
    texts: float = 0.0

    def observe(self, characters: int, tokens: int, texts: int, seconds: float) -> None:
        """A batch that was computed."""
        self.seconds = MEMORY * self.seconds + seconds
        self.tokens = MEMORY * self.tokens + tokens
        self.characters = MEMORY * self.characters + min(characters, texts * self.max_tokens * FIRST_CHARACTERS)
        self.texts = MEMORY * self.texts + texts

    def estimated_tokens(self, characters: int) -> int:
        """Tokens of a text of this length."""
        content = self.tokens - SPECIAL_TOKENS * self.texts
        per_token = self.characters / content if content > 0 and self.characters else FIRST_CHARACTERS
        return min(self.max_tokens, SPECIAL_TOKENS + math.ceil(characters / max(per_token, 0.5)))

    def expected_seconds(self, tokens: int) -> float:
        """Time to compute this many tokens; 0 before the first batch."""
        return tokens * self.seconds / self.tokens if self.tokens else 0.0

    def tokens_in(self, seconds: float) -> int:
        """Tokens that are computed in this time; any number before the first batch."""
        return int(seconds * self.tokens / self.seconds) if self.seconds > 0 else 1 << 30
