"""XNLI (Conneau et al. 2018): MNLI in 15 languages. Trained in English, tested in each."""

from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from niwaki.core.errors import InputError
from niwaki.data import dataset_files
from niwaki.tasks._declarations import Published
from niwaki.tasks._test_languages import TRAINED, TestLanguages, by_language
from niwaki.tasks.classification import Classification

ROLES = {"premise": "premise_", "hypothesis": "hypothesis_"}
COLUMNS = [*ROLES, "label"]


class Xnli(TestLanguages, Classification):
    published: ClassVar[Published] = Published("xnli")
    label_names: ClassVar[tuple[str, ...]] = ("entailment", "neutral", "contradiction")
    metrics: ClassVar[tuple[str, ...]] = ("accuracy",)
    description: ClassVar[str] = "whether a sentence follows from another, in 15 languages"

    def read_parts(self) -> dict[str, pa.Table]:
        """Train rows in English are those of the folder, or of MNLI in the folder next to it."""
        source = self.data.source
        found = dataset_files.read_splits(source)
        parts = {name: by_language(found[name], ROLES, ["label"]) for name in ("validation", "test") if name in found}
        if len(parts) < 2 or any(TRAINED not in languages for languages in parts.values()):
            raise InputError(
                f"{source}: needs files dev and test with columns premise_en, hypothesis_en, label, and the same of other languages"
            )
        train = found["train"] if "train" in found else self._mnli(Path(source))
        tests = self.test_sets(parts["test"], source)
        return {"train": train.select(COLUMNS), "validation": parts["validation"][TRAINED], **tests}

    def _mnli(self, folder: Path) -> pa.Table:
        sibling = folder.parent / "mnli"
        if not sibling.is_dir():
            raise InputError(f"{folder}: has no train rows; add train.parquet, or MNLI as {sibling}")
        return dataset_files.read_splits(sibling)["train"]
