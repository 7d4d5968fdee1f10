"""Byte pair encoding: which tokens a token is merged from, by the rules of a vocabulary."""

import itertools
from collections.abc import Iterable, Sequence

Merge = tuple[str, str]


def ranks_of(merges: Sequence[str | Sequence[str]]) -> dict[Merge, int]:
    """The place of each rule, from the `merges` of a tokenizer.json."""
    pairs = (merge.split(" ") if isinstance(merge, str) else merge for merge in merges)
    return {(left, right): place for place, (left, right) in enumerate(pairs)}


def merged_from(tokens: Iterable[str], ranks: dict[Merge, int], prefix: str = "") -> set[str]:
    """The tokens and all that they are merged from. A token inside a word comes about as it does alone: rules across its ends
    never applied, else it would not be there."""
    found: set[str] = set()
    for token in tokens:
        found.add(token)
        found.update(_steps(token, ranks, prefix))
    return found


def _steps(token: str, ranks: dict[Merge, int], prefix: str) -> set[str]:
    inner = token.removeprefix(prefix)
    begin = prefix if prefix and token.startswith(prefix) else ""
    parts = [begin + inner[:1], *(prefix + sign for sign in inner[1:])]
    found = set(parts)
    while len(parts) > 1:
        pairs = list(itertools.pairwise(parts))
        place = min(range(len(pairs)), key=lambda at: ranks.get(pairs[at], len(ranks)))
        if pairs[place] not in ranks:
            break
        parts[place : place + 2] = [parts[place] + parts[place + 1].removeprefix(prefix)]
        found.add(parts[place])
    return found
