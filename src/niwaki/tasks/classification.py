"""Your own texts, or pairs of texts, each with one label of several."""

from typing import ClassVar

from niwaki.tasks._declarations import TableFormat
from niwaki.tasks._label_task import LabelTask
from niwaki.tasks._text_task import ROLES, TextTask


class Classification(LabelTask, TextTask):
    table: ClassVar[TableFormat] = TableFormat("classification", ROLES, stratify_by="label")
    answer: ClassVar[str] = "label"
    description: ClassVar[str] = "single-label classification of texts or pairs"
