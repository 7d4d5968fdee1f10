"""Which columns hold what, and so which kind of task it is: known names first, then what the columns hold.

Where exactly one reading is left it is taken; otherwise the candidates are named and the setting that says which. What
the user names wins. Naming `text` brings its known partner (premise, hypothesis) along as `second`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from niwaki.core.advice import COLUMN, set_option
from niwaki.core.errors import InputError, did_you_mean
from niwaki.data import column_contents, column_names, label_columns, task_columns

LABELLED = ("classification", "regression", "multilabel")
ROLES = {
    **dict.fromkeys(LABELLED, ("text", "second", "label")),
    "roles": ("tokens", "predicates", "rolesets", "args"),
    "tagging": ("tokens", "tags"),
    "question_answering": ("question", "context", "answers"),
    "choice": ("text", "endings", "label"),
    "senses": ("tokens", "lemmas", "pos", "senses"),
    "generation": ("text", "target"),
}


@dataclass(frozen=True)
class ColumnGuess:
    kind: str
    columns: dict[str, str | list[str]] = field(default_factory=dict)
    separator: str = ""  # between the labels of a cell, where multilabel rows hold text and not lists


def guess_columns(table: pa.Table, given: Mapping[str, str], kind: str = "") -> ColumnGuess:
    """The kind of task and the column of each role. `given` holds roles the user named, `kind` a kind he named."""
    given = {role: name for role, name in given.items() if name}
    reject_unknown_columns(table, given)
    rows = column_contents.sample(table)
    kinds = [name for name, roles in ROLES.items() if kind in ("", name) and set(given) <= set(roles)]
    if not kinds:
        roles = ", ".join(f"data.{role}" for role in given)
        raise InputError(f"{roles}: do not go together{' in ' + kind if kind else ''}; roles: {roles_of(kind)}")
    known = {
        "question_answering": task_columns.answering,
        "choice": task_columns.choice,
        "senses": task_columns.senses,
        "roles": task_columns.roles,
        "generation": lambda rows, given: task_columns.generation(rows, given, alone=kinds == ["generation"]),
    }
    for name, shape in known.items():
        if name in kinds and (found := shape(rows, given)):
            return ColumnGuess(name, found)
    if "tagging" in kinds and (tagged := as_tagging(rows, given, alone=kinds == ["tagging"])):
        return tagged
    if not set(LABELLED) & set(kinds):
        there = ", ".join(table.column_names)
        raise InputError(
            f"columns: none look like {' or '.join(kinds)} (there is: {there}); say which: {settings(kinds)}"
        )
    return ColumnGuess(*label_columns.find_label_columns(table, rows, given, kind))


def reject_unknown_columns(table: pa.Table, given: Mapping[str, str]) -> None:
    for role, value in given.items():
        wanted = [value] if value in table.column_names or role != "endings" else value.split(",")
        for name in wanted:
            if name not in table.column_names:
                raise InputError(f"data.{role}: there is no column '{name}'{did_you_mean(name, table.column_names)}")


def roles_of(kind: str) -> str:
    return "; ".join(f"{name} {', '.join(roles)}" for name, roles in ROLES.items() if kind in ("", name))


def settings(kinds: list[str]) -> str:
    roles = dict.fromkeys(role for kind in kinds for role in ROLES[kind] if role != "second")
    return " ".join(set_option(f"data.{role}", COLUMN) for role in roles)


def as_tagging(rows: pa.Table, given: Mapping[str, str], alone: bool) -> ColumnGuess | None:
    """Tagged tokens, if that is the one reading. `alone`: no other task is considered."""
    roles, several = task_columns.tagging(rows, given)
    if not roles and not several:
        return None
    others = [] if alone else competing_columns(rows)
    if roles and not others:
        return ColumnGuess("tagging", roles)
    wanted = [*(several or [str((roles or {})["tags"])]), *others]
    raise InputError(
        f"columns: {task_columns.quoted(wanted)} could be what is to be learnt; say which, e.g. {set_option('data.tags', wanted[0])}"
    )


def competing_columns(rows: pa.Table) -> list[str]:
    """Columns by whose names the rows could as well be texts with a label."""
    texts = [name for name in rows.column_names if pa.types.is_string(rows.schema.field(name).type)]
    has_text = column_names.known(texts, column_names.FIRST_TEXT, column_names.TEXTS)
    return column_names.known(texts, column_names.FIRST_LABEL, column_names.LABELS) if has_text else []
