"""All groups of the rows of a comparison."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from niwaki.answers._answer_type import Input
from niwaki.evaluate.changes.answered import Answered
from niwaki.evaluate.changes.groups import (
    Group,
    by_class,
    by_column,
    by_length,
    by_negation,
    by_rarity,
    by_spelling,
)
from niwaki.tasks._task import texts_in

if TYPE_CHECKING:
    from niwaki.evaluate.changes.comparison import Rows

UNKNOWN = ("[UNK]", "<unk>")


def row_groups(first: Answered, second: Answered, rows: "Rows", inputs: Sequence[Input]) -> list[Group]:
    texts = [list(texts_in(given)) for given in inputs]
    return [
        *by_class(rows.task.gold(rows.table)),
        *(by_text(first, second, rows, texts) if any(texts) else ()),
        *(group for name, cells in rows.columns.items() for group in by_column(name, cells)),
    ]


def by_text(first: Answered, second: Answered, rows: "Rows", texts: Sequence[Sequence[str]]) -> list[Group]:
    """Groups that images have none of."""
    words = [sum(len(text.split()) for text in some) for some in texts]
    return [
        *by_length(first.encoded),
        *by_rarity(texts, rows.known, rows.included, rows.known_as),
        *by_negation(texts),
        *by_spelling(first.encoded, second.encoded, words, unknown_token(second)),
    ]


def unknown_token(model: Answered) -> int | None:
    """The number of the token that stands for what the vocabulary lacks."""
    tokenizer = model.predictor.encoder.tokenizer
    return next((number for name in UNKNOWN if (number := tokenizer.token_to_id(name)) is not None), None)
