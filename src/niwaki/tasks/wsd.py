"""English all-words disambiguation (Raganato et al. 2017): trained on SemCor, scored on five sets with WordNet 3.0."""

from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from niwaki.core.errors import InputError
from niwaki.data import dataset_files, raganato
from niwaki.tasks._declarations import Published
from niwaki.tasks.senses import Senses

TRAIN, VALIDATION = "semcor", "semeval2007"
SETS = ("senseval2", "senseval3", "semeval2007", "semeval2013", "semeval2015")
ALL = "ALL"  # as the field calls the five together


class Wsd(Senses):
    published: ClassVar[Published] = Published(
        "wsd_raganato",
        caveat="The test is ALL without SemEval-2007, which chooses the weights; published tables give ALL, reported next to it.",
    )
    description: ClassVar[str] = "which sense of WordNet 3.0 a word of a sentence has"

    def read_parts(self) -> dict[str, pa.Table]:
        """SemCor; SemEval-2007 to choose by; the other four as the test; all five together, and each, as further tests."""
        sets = {name: self._marked(name) for name in SETS}
        test = pa.concat_tables([sets[name] for name in SETS if name != VALIDATION])
        everything = pa.concat_tables(list(sets.values()))
        return {"train": self._read(TRAIN), "validation": sets[VALIDATION], "test": test, ALL: everything, **sets}

    def _marked(self, name: str) -> pa.Table:
        """A set with its name before each id, as the key file of ALL has them."""
        table = self._read(name)
        ids = [[one and f"{name}.{one}" for one in row] for row in table.column("instance_ids").to_pylist()]
        place = table.column_names.index("instance_ids")
        return table.set_column(place, "instance_ids", pa.array(ids, pa.list_(pa.string())))

    def _read(self, name: str) -> pa.Table:
        """From parquet or from its own form, in the folder, in a folder of its name, or next to it."""
        folder = Path(self.data.source).expanduser()
        homes = [
            folder,
            folder / name,
            folder.parent / name,
            folder / "Evaluation_Datasets" / name,
            folder / "Training_Corpora" / "SemCor",
        ]
        for home in homes:
            if (home / f"{name}.parquet").is_file():
                return dataset_files.read_table(home / f"{name}.parquet").select([*LISTS])
            if (home / f"{name}{raganato.XML}").is_file():
                return raganato.read_raganato(home / f"{name}{raganato.XML}").select([*LISTS])
        raise InputError(f"{folder}: has no {name}.parquet or {name}{raganato.XML}, which task '{self.name}' needs")


LISTS = raganato.LISTS
