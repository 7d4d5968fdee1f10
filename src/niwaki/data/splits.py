"""Splits made by a rule instead of a file: by a hash of the text, stratified by label, duplicates always together."""

import hashlib
from collections import defaultdict
from collections.abc import Sequence

import pyarrow as pa


def split_by_hash(table: pa.Table, text: str, label: str, validation: float, test: float) -> dict[str, pa.Table]:
    """Cuts each label's texts, in the order of their hashes, at the given shares. The same rows give the same split,
    whatever their order; rows with the same text fall into the same part."""
    part_of = assign(table.column(text).to_pylist(), table.column(label).to_pylist(), validation, test)
    rows: dict[str, list[int]] = {"train": [], "validation": [], "test": []}
    for number, value in enumerate(table.column(text).to_pylist()):
        rows[part_of[value]].append(number)
    return {part: table.take(pa.array(numbers, pa.int64())) for part, numbers in rows.items()}


def assign(texts: Sequence[str], labels: Sequence[object], validation: float, test: float) -> dict[str, str]:
    """Text → part."""
    label_of: dict[str, str] = {}
    for text, label in zip(texts, labels, strict=True):  # a text with several labels counts under the smallest
        label_of[text] = min(label_of.get(text, str(label)), str(label))
    groups: dict[str, list[str]] = defaultdict(list)
    for text, label in label_of.items():
        groups[label].append(text)
    parts = {}
    for group in groups.values():
        group.sort(key=lambda text: hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())
        test_end, validation_end = round(len(group) * test), round(len(group) * (test + validation))
        for place, text in enumerate(group):
            parts[text] = "test" if place < test_end else "validation" if place < validation_end else "train"
    return parts
