"""Rows with a text, or two, and a label: which columns these are, and which kind of task the label makes."""

from collections.abc import Mapping

import pyarrow as pa

from niwaki.core.advice import COLUMN, set_option
from niwaki.core.errors import InputError
from niwaki.data import column_contents, column_names
from niwaki.data.column_contents import ColumnContents
from niwaki.data.task_columns import Roles, quoted

Texts = list[tuple[str, ...]]  # readings of what is the text: single columns or pairs


def find_label_columns(table: pa.Table, rows: pa.Table, given: Mapping[str, str], kind: str) -> tuple[str, Roles, str]:
    """Kind, roles, and the mark between labels of one cell. `rows` is a sample of the table."""
    looks = [column_contents.inspect_column(rows, name) for name in rows.column_names]
    labels = [given["label"]] if "label" in given else label_names(looks)
    texts = find_texts([look for look in looks if look.name not in labels[:1]], given)
    used = {name for pair in texts for name in pair}
    labels = [name for name in labels if name not in used] or label_like(rows, looks, used)
    reject_ambiguous_columns(looks, texts, labels)
    roles: Roles = dict(zip(("text", "second"), texts[0], strict=False))
    if not given:
        reject_missing_header(rows, texts[0][0], labels[0])
    named, mark = label_kind(table.column(labels[0]), rows.column(labels[0]), labels[0], kind)
    return named, roles | {"label": labels[0]}, mark


def label_names(looks: list[ColumnContents]) -> list[str]:
    """Columns with the name of a label; those of the second rank must not be texts (a `target` may be a translation)."""
    first = column_names.known([look.name for look in looks], column_names.FIRST_LABEL)
    return first or column_names.known([look.name for look in looks if not look.is_text], column_names.LABELS)


def label_like(rows: pa.Table, looks: list[ColumnContents], used: set[str]) -> list[str]:
    """Columns with few different values, or with decimals."""
    others = [look for look in looks if look.name not in used and not column_names.is_metadata(look.name)]
    return [
        look.name for look in others if look.has_few_values or column_contents.holds_decimals(rows.column(look.name))
    ]


def find_texts(looks: list[ColumnContents], given: Mapping[str, str]) -> Texts:
    strings = [look.name for look in looks if pa.types.is_string(look.kind) and not column_names.is_metadata(look.name)]
    pairs: Texts = [*column_names.pairs(strings)]
    if "text" in given:
        partner = next((pair[1] for pair in pairs if pair[0] == given["text"]), "")
        second = given.get("second") or partner
        return [(given["text"], second) if second else (given["text"],)]
    if "second" in given:
        others = [name for name in strings if name != given["second"]]
        of_pairs = [pair for pair in pairs if pair[1] == given["second"]]
        return of_pairs or [(name, given["second"]) for name in best_texts(others, looks)]
    return pairs or [(name,) for name in best_texts(strings, looks)]


def best_texts(strings: list[str], looks: list[ColumnContents]) -> list[str]:
    """Columns with the name of a text; else the one whose texts are by far the longest; else all that are texts."""
    by_name = column_names.known(strings, column_names.FIRST_TEXT, column_names.TEXTS)
    if by_name:
        return by_name
    texts = sorted(
        (look for look in looks if look.name in strings and look.is_text), key=lambda look: -look.mean_length
    )
    if len(texts) > 1 and texts[0].mean_length >= 2 * texts[1].mean_length:
        texts = texts[:1]
    return [look.name for look in texts]


def reject_ambiguous_columns(looks: list[ColumnContents], texts: Texts, labels: list[str]) -> None:
    """One line for all that is not clear, with settings that decide it. Settings for the text name every column they read."""
    there = f"there is: {', '.join(look.name for look in looks)}"
    faults, label = [], ""
    if len(texts) != 1:
        found = [" + ".join(pair) for pair in texts]
        faults.append(f"the text could be {quoted(found)}" if found else f"none looks like the text ({there})")
    if len(labels) != 1:
        faults.append(f"the label could be {quoted(labels)}" if labels else f"none looks like the label ({there})")
        label = set_option("data.label", labels[0] if labels else COLUMN)
    if faults:
        ways = text_settings(texts) if len(texts) != 1 else [""]
        wanted = ", or ".join(f"{way} {label}".strip() for way in ways)
        raise InputError(f"columns: {'; '.join(faults)}; say which, e.g. {wanted}")


def text_settings(texts: Texts) -> list[str]:
    """Settings for the first reading of the text; where single columns compete, they may also be the two texts of a pair."""
    first = texts[0] if texts else (COLUMN,)
    ways = [_settings(first)]
    if len(first) == 1 and len(texts) > 1:
        ways.append(f"for pairs of texts {_settings((first[0], texts[1][0]))}")
    return ways


def _settings(columns: tuple[str, ...]) -> str:
    return " ".join(set_option(f"data.{role}", name) for role, name in zip(("text", "second"), columns, strict=False))


def reject_missing_header(rows: pa.Table, text: str, label: str) -> None:
    """A file whose first row holds no names: what stands over the labels is a label, over the texts a text."""
    if (
        len(text.split()) > 3
        and pa.types.is_string(rows.schema.field(label).type)
        and label in rows.column(label).unique().to_pylist()
    ):
        raise InputError(
            f"columns: the first row seems to hold no names ('{text[:40]}', '{label}'); write a header above it"
        )


def label_kind(column: pa.ChunkedArray, some: pa.ChunkedArray, name: str, kind: str) -> tuple[str, str]:
    """Which kind of task a label makes, and the mark between labels that lie in one cell."""
    if pa.types.is_list(column.type):
        return "multilabel", ""
    if kind in ("classification", "regression"):
        return kind, ""
    if kind != "multilabel" and column_contents.holds_decimals(column):
        return "regression", ""
    mark, clear = column_contents.separator([cell for cell in some.cast(pa.string()).to_pylist() if cell])
    if kind != "multilabel" and mark and not clear:
        raise InputError(
            f"column '{name}': cells may hold one label or several (mark '{mark}'); name the task, classification or multilabel"
        )
    return ("multilabel", mark) if kind == "multilabel" or mark else ("classification", "")
