"""Do student and teacher read the same tokens? Layers and per-token answers can only be compared if they do."""

from pathlib import Path

import numpy as np

from niwaki.answers._answer_type import EncodedInputs
from niwaki.answers._images import ImageInputs
from niwaki.core.errors import InputError
from niwaki.core.problems import Problems
from niwaki.data.image_preprocessor import ImagePreprocessor
from niwaki.data.pixels import PIXELS
from niwaki.methods._method import followed_activations
from niwaki.models.input_readers import plain_reader
from niwaki.models.model import Model
from niwaki.models.skeleton import read_config
from niwaki.models.tokenizer_loading import load_tokenizer
from niwaki.run.validation.draft import Draft, lineage
from niwaki.tasks._task import Task
from niwaki.tokenization.tokenizing import encode_batch
from niwaki.tokenization.trimming import without_padding

SAMPLE_ROWS = 200
LAYERS = "layers", "distil with 'logits', which needs no layers"
ANSWERS = "answers for each token", "give the student the teacher's tokenizer"


def check(draft: Draft, problems: Problems) -> None:
    """Compares the start models' tokenizers on some rows. A vocabulary that a method builds from the texts is only known while
    the stage runs; `check_same_tokens` compares those."""
    if not draft.has_rows or len(draft.shapes) < len(draft.stages):
        return
    for stage in draft.stages:
        for teacher in stage.spec.teachers if stage.spec.train else ():
            student_source, teacher_source = (lineage(draft.stages, name)[0].source for name in (stage.name, teacher))
            shapes = draft.shapes[stage.name].trained, draft.shapes[teacher].finished
            layers = bool(followed_activations(stage.methods, *shapes))
            if student_source == teacher_source or not (layers or draft.task.answer_type.per_token):
                continue
            if _tokenizers_differ(draft.task, student_source, teacher_source):
                problems.add([_problem(stage.name, layers)])


def _problem(stage: str, layers: bool) -> str:
    what, fix = LAYERS if layers else ANSWERS
    return (
        f"stage '{stage}': student and teacher split the texts into different tokens, "
        f"so their {what} cannot be compared; {fix}"
    )


def _tokenizers_differ(task: Task, student: Path, teacher: Path) -> bool:
    if isinstance(
        task.answer_type, ImageInputs
    ):  # a network for images that a method makes is known while the stage runs
        readers = [plain_reader(folder, read_config(folder)) for folder in (student, teacher)]
        return len({reader.tokens for reader in readers if isinstance(reader, ImagePreprocessor)}) > 1
    texts = list(task.texts(task.splits()["train"].slice(0, SAMPLE_ROWS)))
    tokenizers = [load_tokenizer(folder, read_config(folder)) for folder in (student, teacher)]
    unknown = {tokenizer.unk_token for tokenizer in tokenizers}
    encodings = (
        encode_batch(without_padding(tokenizer.backend_tokenizer), texts, add_special_tokens=False)
        for tokenizer in tokenizers
    )
    return any(
        len(one.tokens) != len(other.tokens)
        or any(a != b and not unknown & {a, b} for a, b in zip(one.tokens, other.tokens, strict=True))
        for one, other in zip(*encodings, strict=True)
    )


def check_same_tokens(
    stage: str, own: EncodedInputs, theirs: EncodedInputs, student: Model, teacher: Model, layers: bool
) -> None:
    """Compares the training rows as student and teacher read them, token by token; of images, how many patches there are."""
    if PIXELS in own.arrays and np.array_equal(own.lengths, theirs.lengths):
        return
    if PIXELS in own.arrays:
        raise InputError(
            f"stage '{stage}': the student reads {own.lengths[0]} tokens of an image and its teacher {theirs.lengths[0]}, so their "
            f"{LAYERS[0]} cannot be compared; {LAYERS[1]}"
        )
    if not np.array_equal(own.ids.starts, theirs.ids.starts):
        longest = int(own.ids.lengths.max()), int(theirs.ids.lengths.max())
        shorter = student if longest[0] < longest[1] else teacher
        if longest[0] != longest[1] and min(longest) == shorter.anatomy.max_tokens:
            raise InputError(
                f"stage '{stage}': the student reads {longest[0]} tokens of a long text and its teacher {longest[1]}, "
                f"so their {(LAYERS if layers else ANSWERS)[0]} cannot be compared; set data.max_tokens = {min(longest)}"
            )
    elif _same_tokens(own.ids.values, theirs.ids.values, student, teacher):
        return
    raise InputError(_problem(stage, layers))


def _same_tokens(own: np.ndarray, theirs: np.ndarray, student: Model, teacher: Model) -> bool:
    """Compares tokens by their text, not by their ids. Special and unknown tokens match any token."""
    own_vocabulary, their_vocabulary = (
        model.tokenizer.backend_tokenizer.get_vocab(with_added_tokens=True) for model in (student, teacher)
    )
    their_ids = np.full(max(own_vocabulary.values()) + 1, -1)
    for token, number in own_vocabulary.items():
        their_ids[number] = their_vocabulary.get(token, -1)
    special = [np.isin(ids, model.tokenizer.all_special_ids) for ids, model in ((own, student), (theirs, teacher))]
    return bool(((their_ids[own] == theirs) | special[0] | special[1]).all())
