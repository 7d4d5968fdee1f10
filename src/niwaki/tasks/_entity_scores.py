"""Entities in sequences of tags, and how many of them were found: as seqeval 1.2.2 counts in its default mode.

That mode is CoNLL's own: tags need not be well formed. B, I, E and S (with `-TYPE` or alone) and O are understood, so
IOB1, IOB2, IOE and IOBES all are. Other first letters (L and U of BILOU too) only carry their type: two neighbours
`U-PER` are one entity, as they are for seqeval.

An entity is right when type, first and last token are. Sentences are counted one by one: an interval draws sentences
and adds up their counts, and no tag is read twice.
"""

from collections.abc import Sequence

import numpy as np

from niwaki.tasks._metrics import mean, ratio, ratios

Entity = tuple[str, int, int]  # type, first token, last token
UNTYPED = "_"  # what seqeval calls the type of a tag without one


def entities(tags: Sequence[str]) -> list[Entity]:
    """The entities of one sentence in their order. Every tag has at least one letter."""
    found = []
    before, type_before, first = "O", UNTYPED, 0
    for place, tag in enumerate([*tags, "O"]):  # the O closes what is open at the end
        letter, kind = tag[0], tag[1:].split("-", maxsplit=1)[-1] or UNTYPED
        if closes(before, letter, type_before != kind):
            found.append((type_before, first, place - 1))
        if opens(before, letter, type_before != kind):
            first = place
        before, type_before = letter, kind
    return found


def closes(before: str, letter: str, other_type: bool) -> bool:
    """Whether an entity ended with the tag before this one."""
    if other_type and before not in "O.":
        return True
    return before in "ES" or (before in "BI" and letter in "BSO")


def opens(before: str, letter: str, other_type: bool) -> bool:
    """Whether an entity starts with this tag."""
    if other_type and letter not in "O.":
        return True
    return letter in "BS" or (letter in "IE" and before in "ESO")


def counts(predicted: Sequence[str], gold: Sequence[str]) -> tuple[int, int, int]:
    """(hits, predicted, gold) of one sentence."""
    found_entities, true = set(entities(predicted)), set(entities(gold))
    return len(found_entities & true), len(found_entities), len(true)


def counts_by_type(predicted: Sequence[str], gold: Sequence[str], types: Sequence[str]) -> np.ndarray:
    """(types, 3): hits, predicted, gold of one sentence for each of the types."""
    found_entities, true = set(entities(predicted)), set(entities(gold))
    row = {kind: k for k, kind in enumerate(types)}
    table = np.zeros((len(types), 3), dtype=np.int64)
    for column, found in enumerate((found_entities & true, found_entities, true)):
        for kind, _, _ in found:
            table[row[kind], column] += 1
    return table


def precision_of(hits: float, predicted: float, gold: float) -> float:
    """Share of the predicted entities that are right; 0 where none is predicted."""
    return ratio(hits, predicted)


def recall_of(hits: float, predicted: float, gold: float) -> float:
    """Share of the gold entities that were found; 0 where there is none."""
    return ratio(hits, gold)


def f1_of(hits: float, predicted: float, gold: float) -> float:
    """The harmonic mean of both; 0 where neither side has an entity."""
    return ratio(2 * hits, predicted + gold)


def f1_macro_of(by_type: np.ndarray) -> float:
    """Mean F1 over the types that occur in either, from summed `counts_by_type`."""
    hits, found_entities, true = by_type[by_type.sum(axis=1) > 0].T  # each (types that occur,)
    return mean(ratios(2 * hits, found_entities + true))
