"""PAWS-X (Yang et al. 2019): do two sentences with the same words say the same? In 7 languages."""

from typing import ClassVar

import pyarrow as pa
from pyarrow import compute

from niwaki.core.errors import InputError
from niwaki.data import dataset_files
from niwaki.tasks._declarations import Published
from niwaki.tasks._test_languages import TRAINED, TestLanguages, by_language
from niwaki.tasks.classification import Classification

ROLES = {"sentence1": "sentence1_", "sentence2": "sentence2_"}
UNTRANSLATED = "NS"


class Pawsx(TestLanguages, Classification):
    published: ClassVar[Published] = Published("pawsx")
    label_names: ClassVar[tuple[str, ...]] = ("different", "paraphrase")
    metrics: ClassVar[tuple[str, ...]] = ("accuracy",)
    description: ClassVar[str] = "whether two sentences say the same, in 7 languages"

    def read_parts(self) -> dict[str, pa.Table]:
        """Without a train file, the English development rows train."""
        source = self.data.source
        found = dataset_files.read_splits(source)
        parts = {name: translated(table) for name, table in found.items()}
        train = "train" if "train" in parts else "validation"
        if any(TRAINED not in parts.get(name, {}) for name in (train, "test")):
            raise InputError(
                f"{source}: needs files train (or dev) and test with columns sentence1_en, sentence2_en, label"
            )
        validation = {"validation": parts["validation"][TRAINED]} if {"train", "validation"} <= set(parts) else {}
        return {"train": parts[train][TRAINED], **validation, **self.test_sets(parts["test"], source)}


def translated(table: pa.Table) -> dict[str, pa.Table]:
    """Rows by language that have a label and two sentences: some were not translated, which the files write as `NS`."""
    found = {}
    for language, rows in by_language(table, ROLES, ["label"]).items():
        given = [compute.not_equal(rows.column(name), UNTRANSLATED) for name in ROLES]
        found[language] = rows.filter(compute.and_(*given)).filter(compute.is_valid(compute.field("label")))
    return found
