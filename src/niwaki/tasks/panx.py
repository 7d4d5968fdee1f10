"""PAN-X (Pan et al. 2017, as in XTREME): names of people, places and organizations in Wikipedia. Trained in English, tested in each language."""

import re
from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from niwaki.core.errors import InputError
from niwaki.data import dataset_files
from niwaki.data.folders import READERS
from niwaki.tasks._declarations import Published
from niwaki.tasks._test_languages import TRAINED, TestLanguages
from niwaki.tasks.tagging import Tagging

FILE = re.compile(rf"([a-z-]+)-(train|dev|test)({'|'.join(map(re.escape, READERS))})")


class Panx(TestLanguages, Tagging):
    published: ClassVar[Published] = Published("panx")
    description: ClassVar[str] = "names of people, places and organizations, in several languages"

    def read_parts(self) -> dict[str, pa.Table]:
        """Files `<language>-train`, `-dev`, `-test`. A language without a test file is tested on its development rows, and then English
        rows for validation are taken from the train rows."""
        source = Path(self.data.source)
        matches = (
            [match for path in sorted(source.iterdir()) if (match := FILE.fullmatch(path.name))]
            if source.is_dir()
            else []
        )
        files = {(match[1], match[2]): source / match[0] for match in matches}
        tests = {
            language: files.get((language, "test"), files[language, part])
            for language, part in files
            if part != "train"
        }
        if (TRAINED, "train") not in files or TRAINED not in tests:
            raise InputError(
                f"{source}: needs the files {TRAINED}-train and {TRAINED}-dev, and the same of other languages"
            )
        read = {language: dataset_files.read_table(path) for language, path in tests.items()}
        own = {(TRAINED, "dev"), (TRAINED, "test")} <= set(files)
        validation = {"validation": dataset_files.read_table(files[TRAINED, "dev"])} if own else {}
        train = dataset_files.read_table(files[TRAINED, "train"])
        return {"train": train, **validation, **self.test_sets(read, source)}
