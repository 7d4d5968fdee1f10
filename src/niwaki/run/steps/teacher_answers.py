"""Training rows whose targets are the teacher's answers, for sequence-level distillation."""

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from niwaki.answers._answer_type import EncodedInputs
from niwaki.answers.text import Text
from niwaki.core.errors import InputError
from niwaki.engines.predictor import Predictor
from niwaki.models.activations import LOGITS
from niwaki.run.plan import model_digest
from niwaki.run.steps.cached_outputs import with_cache
from niwaki.run.steps.job import StageJob
from niwaki.tasks._capabilities import AcceptsTeacherAnswers
from niwaki.train.teacher import CacheLayout, TeacherOutput


def with_teacher_answers(job: StageJob, rows: pa.Table) -> pa.Table:
    """`rows` with the answers of the first teacher, as its deployed model gives them; cached for other stages and runs."""
    folder = job.model_folder(job.stage.spec.teachers[0])
    predictor, inputs = Predictor(folder), job.task.inputs(rows)
    encoded = predictor.tokenize(inputs)
    assert isinstance(predictor.answer_type, Text)  # `sequence_kd.check_teacher`
    width = predictor.answer_type.search.candidates * (1 + predictor.answer_type.max_new_tokens)

    def generate(block: Sequence[int]) -> Iterable[TeacherOutput]:
        part = range(block[0], block[-1] + 1)
        arrays = {name: array.stretch(part) for name, array in encoded.arrays.items()}
        return ({LOGITS: row} for row in predictor.logits(EncodedInputs(arrays, np.arange(len(part)), [])))

    layout = CacheLayout(
        (model_digest(folder), "answers", predictor.engine),
        encoded,
        (LOGITS,),
        lambda name, lengths: np.full_like(lengths, width),
        per_token=False,
    )
    outputs = with_cache(job, layout, generate, always=True)(range(len(encoded.lengths)))
    logits = np.stack([output[LOGITS] for output in outputs])
    if not isinstance(job.task, AcceptsTeacherAnswers):
        raise InputError(f"task '{job.task.name}': its rows cannot be given a teacher's answers; distil with 'logits'")
    return job.task.with_answers(rows, predictor.answer_type.values(logits, encoded, inputs, predictor.labels))
