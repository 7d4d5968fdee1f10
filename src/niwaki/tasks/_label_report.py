"""What a user should know about the labels of the rows: texts that are labelled in different ways."""

from collections.abc import Mapping, Sequence

import pyarrow as pa

from niwaki.data.contradictions import contradictory_groups

SHOWN_CHARACTERS = 40


def contradictions(parts: Mapping[str, pa.Table], columns: Sequence[str]) -> str:
    """`4 of the 80 train rows have the same text as another one with a different label, e.g. 'great': neg, pos`; "" without any."""
    found, example = [], ""
    for part, rows in parts.items():
        groups = contradictory_groups(rows, [name for name in columns if name in rows.column_names], "label")
        if groups:
            found.append(f"{sum(map(len, groups))} of the {rows.num_rows} {part} rows")
            example = example or _example(rows, groups[0])
    return (
        f"{', '.join(found)} have the same text as another one with a different label, e.g. {example}" if found else ""
    )


def _example(rows: pa.Table, group: Sequence[int]) -> str:
    text, labels = str(rows.column("text")[group[0]]), [rows.column("label")[number].as_py() for number in group]
    names = sorted({"+".join(sorted(label)) if isinstance(label, list) else str(label) for label in labels})
    return f"{text[:SHOWN_CHARACTERS]!r}{'…' * (len(text) > SHOWN_CHARACTERS)}: {', '.join(name or 'none' for name in names[:5])}"
