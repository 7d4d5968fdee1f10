"""Sequence-level distillation: the student is trained on the texts that its teacher generates instead of the reference texts.

The teacher's texts are more regular than human ones, so that a smaller network can learn them.

Paper: Kim and Rush 2016, Sequence-Level Knowledge Distillation (arXiv 1606.07947).
Cost: the teacher generates an answer to every training row once, with beam search; cached for other stages and runs.
"""

from collections.abc import Callable

import pyarrow as pa

from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.methods._method import FollowsTeacher, Method, Requirements, SelectsRows
from niwaki.models.model import Model


class SequenceKd(Method, SelectsRows, FollowsTeacher):
    truth: bool = setting(False, "train on the reference texts too: twice as many rows")

    requires = Requirements(teacher="required", training=True)

    @property
    def follows_answers(self) -> bool:
        return True

    def check_teacher(self, model: Model, teacher: Model) -> None:
        if not teacher.anatomy.is_seq2seq:
            raise InputError("sequence_kd: the teacher does not generate text; distil it with 'logits'")

    def rows(self, rows: pa.Table, answered: Callable[[pa.Table], pa.Table]) -> pa.Table:
        by_teacher = answered(rows)
        return pa.concat_tables([rows, by_teacher]) if self.truth else by_teacher
