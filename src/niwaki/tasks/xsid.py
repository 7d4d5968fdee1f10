"""xSID (van der Goot et al. 2021): the slots of requests to an assistant, in languages and dialects."""

from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from niwaki.core.errors import InputError
from niwaki.data import dataset_files
from niwaki.data.folders import kind_of
from niwaki.tasks._declarations import Published
from niwaki.tasks._test_languages import TRAINED, TestLanguages, of_value
from niwaki.tasks.tagging import Tagging

COLUMNS = ["lang", "split", "tokens", "slots"]


class Xsid(TestLanguages, Tagging):
    published: ClassVar[Published] = Published(
        "xsid",
        columns={"tokens": "tokens", "tags": "slots"},
        caveat="The English validation rows train where the file has no train rows.",
    )
    description: ClassVar[str] = "slots of requests, in languages and dialects"

    def read_parts(self) -> dict[str, pa.Table]:
        """One file with the columns lang, split (train, valid, test), tokens, slots."""
        source = Path(self.data.source)
        files = [path for path in sorted(source.iterdir()) if kind_of(path)] if source.is_dir() else [source]
        if len(files) != 1:
            raise InputError(
                f"{source}: has {len(files)} files with rows; give the one with the columns {', '.join(COLUMNS)}"
            )
        table = dataset_files.read_table(files[0])
        self.data.require_columns(table, COLUMNS)
        splits = {name: of_value(rows, "lang") for name, rows in of_value(table.select(COLUMNS), "split").items()}
        train = "train" if TRAINED in splits.get("train", {}) else "valid"
        if any(TRAINED not in splits.get(name, {}) for name in (train, "test")):
            raise InputError(f"{source}: has no rows in English ('{TRAINED}') for '{train}' and 'test'")
        validation = {"validation": splits["valid"][TRAINED]} if train == "train" and "valid" in splits else {}
        return {"train": splits[train][TRAINED], **validation, **self.test_sets(splits["test"], source)}
