"""Kinds of rows that show in the shape of their columns: tagged tokens, answers in a context, one of several endings."""

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from pyarrow import compute

from niwaki.core.advice import set_option
from niwaki.core.errors import InputError
from niwaki.data import column_names
from niwaki.data.cells import is_text
from niwaki.data.column_contents import count_distinct, inspect_column

Roles = dict[str, str | list[str]]
LOOKED_AT = 200  # rows in which a text answer is looked for


def answering(rows: pa.Table, given: Mapping[str, str]) -> Roles | None:
    texts = [name for name in rows.column_names if pa.types.is_string(rows.schema.field(name).type)]
    found = {
        "question": one(given, "question", column_names.known(texts, column_names.QUESTIONS)),
        "context": one(given, "context", column_names.known(texts, column_names.CONTEXTS)),
        "answers": one(given, "answers", column_names.known(rows.column_names, column_names.ANSWERS)),
    }
    if not all(found.values()) or not ("answers" in given or answers_lie_in(rows, found["context"], found["answers"])):
        return None
    return dict(found)


def answers_lie_in(rows: pa.Table, context: str, answers: str) -> bool:
    """Answers with their places; or texts, or lists of them, most of which are found in the context."""
    kind = rows.schema.field(answers).type
    inner = kind.value_type if pa.types.is_list(kind) else kind
    if pa.types.is_struct(inner):
        return inner.get_field_index("text") >= 0
    if not pa.types.is_string(inner):
        return False
    answers_flat = rows.column(answers) if inner is kind else compute.list_flatten(rows.column(answers))
    both = zip(rows.column(context).to_pylist()[:LOOKED_AT], rows.column(answers).to_pylist()[:LOOKED_AT], strict=True)
    firsts = ((text, answer[0] if isinstance(answer, list) else answer) for text, answer in both if text and answer)
    found = [answer in text for text, answer in firsts if answer]
    return sum(found) > 0.5 * len(found) and count_distinct(answers_flat) > LOOKED_AT / 10


def choice(rows: pa.Table, given: Mapping[str, str]) -> Roles | None:
    columns = [name for name in rows.column_names if name not in (given.get("text"), given.get("label"))]
    lists = [name for name in columns if is_list_of_text(rows, name)]
    several: str | list[str] = column_names.endings(columns) or one(
        {}, "", column_names.known(lists, column_names.ENDINGS)
    )
    if "endings" in given:
        several = given["endings"] if given["endings"] in columns else given["endings"].split(",")
    others = column_names.LABELS | {"answer", "correct"}
    label = one(given, "label", column_names.known(columns, column_names.FIRST_LABEL, others))
    if not several or not label:
        return None
    text = given.get("text") or start_of(rows, [name for name in columns if name not in (*several, label)])
    return {"text": text, "endings": several, "label": label} if text else None


def start_of(rows: pa.Table, columns: list[str]) -> str:
    """What the endings go on from. InputError if it is in two columns, of which one would be lost."""
    starts = [name for start in column_names.STARTS for name in columns if column_names.normalize(name) == start]
    texts = [name for name in starts if inspect_column(rows, name).is_text]
    if len(texts) > 1 and column_names.normalize(texts[0]) not in column_names.WHOLE_STARTS:
        raise InputError(
            f"columns: the text could be {quoted(texts)}; say which, e.g. {set_option('data.text', texts[0])}"
        )
    return next(iter(texts or starts), "")


def quoted(found: Sequence[str]) -> str:
    shown = [f"'{name}'" for name in found[:6]] + ([f"{len(found) - 6} more"] if len(found) > 6 else [])
    return " or ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def tagging(rows: pa.Table, given: Mapping[str, str]) -> tuple[Roles | None, list[str]]:
    """The roles; and where several columns could be the tags, these."""
    lists = [name for name in rows.column_names if is_list_of_text(rows, name)]
    tokens = one(given, "tokens", column_names.known(lists, column_names.TOKENS))
    if not tokens:
        return None, []
    fitting = [name for name in rows.column_names if name != tokens and goes_with(rows, tokens, name)]
    by_kind = [name for name in fitting if column_names.normalize(name) not in column_names.NO_TAGS]
    tags = [given["tags"]] if "tags" in given else by_kind
    return ({"tokens": tokens, "tags": tags[0]}, []) if len(tags) == 1 else (None, tags)


def senses(rows: pa.Table, given: Mapping[str, str]) -> Roles | None:
    """Words with lemmas and parts of speech, and the right senses of some."""
    lists = [name for name in rows.column_names if pa.types.is_list(rows.schema.field(name).type)]
    known = {
        "tokens": column_names.TOKENS,
        "lemmas": column_names.LEMMAS,
        "pos": column_names.POS,
        "senses": column_names.SENSES,
    }
    found = {role: one(given, role, column_names.known(lists, usual)) for role, usual in known.items()}
    return dict(found) if all(found.values()) else None


def roles(rows: pa.Table, given: Mapping[str, str]) -> Roles | None:
    """Predicates and arguments, which are known by their names and by what arguments are made of."""
    lists = [name for name in rows.column_names if is_list_of_text(rows, name)]
    found = {"tokens": one(given, "tokens", column_names.known(lists, column_names.TOKENS))}
    found |= {
        role: one(given, role, column_names.known(rows.column_names, known))
        for role, known in column_names.PROPOSITIONS.items()
    }
    return dict(found) if all(found.values()) and holds_arguments(rows.schema.field(found["args"]).type) else None


def generation(rows: pa.Table, given: Mapping[str, str], alone: bool) -> Roles | None:
    """Two columns whose names say that one is written for the other. `alone`: no other task is considered; else what would be
    written must not look like labels, and no other column be called one."""
    by_plain = {column_names.normalize(name): name for name in rows.column_names}
    pairs = [
        (by_plain[one], by_plain[two]) for one, two in column_names.SEQ2SEQ_PAIRS if one in by_plain and two in by_plain
    ]
    text, target = (given.get(role, "") for role in ("text", "target"))
    found = [pair for pair in pairs if text in ("", pair[0]) and target in ("", pair[1])]
    if text and target:
        return {"text": text, "target": target}
    if len(found) != 1 or not all(is_text(rows.schema.field(name).type) for name in found[0]):
        return None
    source, written = found[0]
    if not alone and (
        inspect_column(rows, written).has_few_values or column_names.known(rows.column_names, column_names.FIRST_LABEL)
    ):
        return None
    return {"text": source, "target": written}


def holds_arguments(kind: pa.DataType) -> bool:
    """Whether a column holds lists of arguments, of whatever predicate; or empty ones throughout."""
    inner = kind.value_type if pa.types.is_list(kind) else kind
    named = {field.name for field in inner} if pa.types.is_struct(inner) else set()
    return {"predicate", "label"} <= named or pa.types.is_null(inner)


def goes_with(rows: pa.Table, tokens: str, other: str) -> bool:
    """Whether each row has as many of the one as of the other, words or numbers."""
    kind = rows.schema.field(other).type
    if not pa.types.is_list(kind) or pa.types.is_nested(kind.value_type):
        return False
    lengths = [
        compute.fill_null(compute.list_value_length(rows.column(name)), 0).to_numpy() for name in (tokens, other)
    ]
    return np.array_equal(*lengths)


def is_list_of_text(rows: pa.Table, name: str) -> bool:
    kind = rows.schema.field(name).type
    return pa.types.is_list(kind) and pa.types.is_string(kind.value_type)


def one(given: Mapping[str, str], role: str, found: list[str]) -> str:
    """What was given for the role, or the one that was found; nothing where there are none or several."""
    return given.get(role) or (found[0] if len(found) == 1 else "")
