"""SQuAD 1.1 (Rajpurkar et al. 2016): the stretch of a Wikipedia paragraph that answers a question."""

from pathlib import Path
from typing import ClassVar

import pyarrow as pa
from pyarrow import compute

from niwaki.core.errors import InputError
from niwaki.core.files import read_json
from niwaki.data import dataset_files
from niwaki.tasks._declarations import Published
from niwaki.tasks.question_answering import QuestionAnswering

ARTICLES = "article_split.json"


class Squad(QuestionAnswering):
    published: ClassVar[Published] = Published("squad", hub_id="rajpurkar/squad")
    description: ClassVar[str] = "the stretch of a paragraph that answers a question"

    def read_parts(self) -> dict[str, pa.Table]:
        """Train and the development rows, which are the test. A folder with development rows alone is cut by article: as
        `article_split.json` says where there is one (in it, or in a neighbouring folder), else by the hash of the title."""
        found = dataset_files.read_splits(self.data.source)
        if "train" in found:
            test = found.get("validation", found.get("test"))
            return {"train": found["train"], **({"test": test} if test is not None else {})}
        rows = next((found[part] for part in ("validation", "all") if part in found), None)
        if rows is None:
            raise InputError(f"{self.data.source}: has no train or validation rows, which task '{self.name}' needs")
        split = self._articles()
        if split is None:
            return {"all": rows}
        of_test = compute.is_in(rows.column("title"), pa.array(split["eval"]))
        return {"train": rows.filter(compute.invert(of_test)), "test": rows.filter(of_test)}

    def _articles(self) -> dict[str, list[str]] | None:
        folder = Path(self.data.source)
        candidates = [folder / ARTICLES, *sorted(folder.parent.glob(f"squad*/{ARTICLES}"))]
        return next((read_json(path) for path in candidates if path.is_file()), None)
