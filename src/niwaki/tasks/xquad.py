"""XQuAD (Artetxe et al. 2020): questions of SQuAD in 12 languages. Trained on SQuAD in English, tested on articles that it does not train on."""

from pathlib import Path
from typing import ClassVar

import pyarrow as pa
from pyarrow import compute

from niwaki.core.errors import InputError
from niwaki.data import dataset_files
from niwaki.tasks._declarations import Published
from niwaki.tasks._test_languages import TRAINED, TestLanguages
from niwaki.tasks.question_answering import QuestionAnswering
from niwaki.tasks.squad import Squad

COLUMNS = ["title", "context", "question", "answers"]


class Xquad(TestLanguages, QuestionAnswering):
    published: ClassVar[Published] = Published("xquad_12lang")
    description: ClassVar[str] = "the stretch of a paragraph that answers a question, in 12 languages"

    def read_parts(self) -> dict[str, pa.Table]:
        """Files `validation.<language>`. Train rows are those of SQuAD in the folder next to it; its articles are not tested."""
        source = Path(self.data.source)
        found = dataset_files.read_splits(source)
        tests = {name.rpartition(".")[2]: table for name, table in found.items() if name.startswith("validation.")}
        if TRAINED not in tests:
            raise InputError(
                f"{source}: needs files validation.{TRAINED}, validation.de … with columns {', '.join(COLUMNS)}"
            )
        squad = source.parent / "squad"
        if not squad.is_dir():
            raise InputError(f"{source}: has no train rows; add SQuAD as {squad}")
        train = Squad(path=str(squad)).read_parts()["train"].select(COLUMNS)
        titles = compute.unique(train.column("title"))
        left = {language: without(table.select(COLUMNS), titles) for language, table in tests.items()}
        return {"train": train, **self.test_sets(left, source)}


def without(table: pa.Table, titles: pa.Array) -> pa.Table:
    """The rows of other articles."""
    return table.filter(compute.invert(compute.is_in(table.column("title"), titles)))
