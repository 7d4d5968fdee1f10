"""Arguments of a predicate in sequences of tags, and how many of them were found: as srl-eval.pl of CoNLL-2005 counts.

Its rules. An argument is right when its label and all its words are. `C-X` goes on with the last `X` before it: both are one
argument in several spans, right only if every span is; without an `X` before it, it is an `X` of its own. `R-X` is a label
like any other. The predicate itself (`V`, and so `C-V`) is not counted.

Dependency sets have an argument's head word only, and count as CoNLL-2009 does: each label at each head word by itself, nothing
is joined. A stretch of words has the head that the tree gives it: its first word whose own head lies outside.
"""

from collections.abc import Collection, Sequence

from niwaki.answers.roles import LabelledSpan, labelled_spans
from niwaki.tasks._srl_sentences import CONTINUES, PREDICATE

Argument = tuple[str, tuple[tuple[int, int], ...]]  # label; first word and the one after the last, of each span


def arguments(found: Sequence[LabelledSpan]) -> set[Argument]:
    """Of stretches in the order of the sentence, those that belong together joined, the predicate's left out."""
    joined: list[tuple[str, list[tuple[int, int]]]] = []
    last: dict[str, list[tuple[int, int]]] = {}
    for label, start, end in found:
        name = label.removeprefix(CONTINUES)
        if label.startswith(CONTINUES) and name in last:
            last[name].append((start, end))
        else:
            last[name] = [(start, end)]
            joined.append((name, last[name]))
    return {(name, tuple(places)) for name, places in joined if name != PREDICATE}


def counts(predicted: Sequence[str], gold: Sequence[str], heads: Sequence[int] = ()) -> tuple[int, int, int]:
    """(hits, predicted, gold) of one predicate. `heads`: of each word the number of its head, counted from 1, where heads are scored."""
    found, true = (
        at_heads(labelled_spans(tags), heads) if len(heads) else arguments(labelled_spans(tags))
        for tags in (predicted, gold)
    )
    return len(found & true), len(found), len(true)


def at_heads(found: Collection[LabelledSpan], heads: Sequence[int]) -> set[Argument]:
    placed = {(label, head_of(start, end, heads)) for label, start, end in found}
    return {(label, ((word, word + 1),)) for label, word in placed if label.removeprefix(CONTINUES) != PREDICATE}


def head_of(start: int, end: int, heads: Sequence[int]) -> int:
    """The first word of a stretch whose head lies outside of it; where a tree goes in a circle, the first word."""
    return next((word for word in range(start, end) if not start <= heads[word] - 1 < end), start)
