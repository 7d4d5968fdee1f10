"""Layers, and answers for every token, can only be compared where student and teacher read the same tokens."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from niwaki.answers._answer_type import EncodedInputs
from niwaki.core.errors import InputError
from niwaki.models.model import Model
from niwaki.models.skeleton import read_config
from niwaki.models.tokenizer_loading import load_tokenizer
from niwaki.tasks._task import Task
from niwaki.tokenization.tokenizing import encode_batch
from niwaki.tokenization.trimming import without_padding

if TYPE_CHECKING:
    from niwaki.run.dry_run import Shapes
    from niwaki.run.plan import Plan

TRIED = 200  # rows
LAYERS = "layers", "distil with 'logits', which needs no layers"
ANSWERS = "answers for each token", "give the student the teacher's tokenizer"


def check_same_tokens(
    stage: str, own: EncodedInputs, theirs: EncodedInputs, student: Model, teacher: Model, layers: bool
) -> None:
    if not np.array_equal(own.ids.starts, theirs.ids.starts):
        most = int(own.ids.lengths.max()), int(theirs.ids.lengths.max())
        shorter = student if most[0] < most[1] else teacher
        if most[0] != most[1] and min(most) == shorter.anatomy.max_tokens:
            raise InputError(
                f"stage '{stage}': the student reads {most[0]} tokens of a long text and its teacher {most[1]}, so their {(LAYERS if layers else ANSWERS)[0]} cannot be compared; set data.max_tokens = {min(most)}"
            )
    elif _same_pieces(own.ids.values, theirs.ids.values, student, teacher):
        return
    _refuse(stage, layers)


def _refuse(stage: str, layers: bool) -> NoReturn:
    what, mending = LAYERS if layers else ANSWERS
    raise InputError(
        f"stage '{stage}': student and teacher split the texts into different tokens, so their {what} cannot be compared; {mending}"
    )


def _same_pieces(own: np.ndarray, theirs: np.ndarray, student: Model, teacher: Model) -> bool:
    """Whatever their numbers. Of marks around a text, and of what one of them does not know, the place counts alone."""
    ours, others = (model.tokenizer.backend_tokenizer.get_vocab(with_added_tokens=True) for model in (student, teacher))
    place = np.full(max(ours.values()) + 1, -1)
    for piece, number in ours.items():
        place[number] = others.get(piece, -1)
    marks = [np.isin(ids, model.tokenizer.all_special_ids) for ids, model in ((own, student), (theirs, teacher))]
    return bool(((place[own] == theirs) | marks[0] | marks[1]).all())


def check_same_tokenizer(plan: "Plan", shapes: "Mapping[str, Shapes]") -> None:
    """The same, tried on some rows before any work: it is seen wherever models with tokenizers of their own come together."""
    for stage in plan.stages:
        name = stage.spec.name
        for teacher in stage.spec.teachers if stage.spec.train else ():
            own, theirs = (plan.lineage(one)[0].source for one in (name, teacher))
            layers = any(
                method.teacher_activations(shapes[name].trained, shapes[teacher].finished) for method in stage.methods
            )
            if own != theirs and (layers or plan.task.answer_type.per_token) and _apart(plan.task, own, theirs):
                _refuse(name, layers)


def _apart(task: Task, own: Path, theirs: Path) -> bool:
    some = list(task.texts(task.splits()["train"].slice(0, TRIED)))
    each = [load_tokenizer(folder, read_config(folder)) for folder in (own, theirs)]
    said = [encode_batch(without_padding(one.backend_tokenizer), some, add_special_tokens=False) for one in each]
    unknown = {one.unk_token for one in each}
    return any(
        len(one.tokens) != len(other.tokens)
        or any(a != b and not unknown & {a, b} for a, b in zip(one.tokens, other.tokens, strict=True))
        for one, other in zip(*said, strict=True)
    )
