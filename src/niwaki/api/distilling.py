"""Trains a smaller model to predict as a finished one does."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from niwaki.api.output_folder import free_target, published, run_folder
from niwaki.api.sources import model_folder
from niwaki.core.errors import InputError, UsageError
from niwaki.core.json_types import Json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from niwaki.compression.result import Compressed

STUDENT = "student"
TEMPERATURE = 2.0


def distill(
    teacher: object,
    data: object,
    *,
    y: object = None,
    student: object = None,
    epochs: float = 6,
    lr: float = 2e-4,
    out: str | Path = "distilled",
    task: str = "",
    tokenizer: object = None,
    overrides: "Sequence[str]" = (),
) -> "Compressed":
    """Trains a student on the outputs of a teacher, and saves it in the folder `out`.

    teacher: what `niwaki.compress` takes as a model
    data: rows with labels, or texts without: the student learns the teacher's probabilities, and its labels if the rows have none
    student: half of the teacher's layers (default), a number of layers, settings of the method `student` such as
        `{"layers": 3, "hidden": 192}`, the name of a method (`averaging`, `bilstm`, `cnn`), or a model to start from
    epochs, lr: length of the training and learning rate

    A call that was interrupted resumes. `niwaki.compress` then makes the student smaller still.

    >>> niwaki.distill("my-model", "rows.csv", student=3)
    """
    if data is None:
        raise UsageError("distill: there are no texts to learn from; give rows or texts as data")
    target = free_target(out)
    with run_folder(target, "distill") as folder:
        from niwaki.compression.rows import find_rows
        from niwaki.compression.search import make_one

        source = model_folder(teacher, folder / "source", tokenizer)
        given = [f"task={task}", *overrides] if task else list(overrides)
        rows = find_rows(source, data, y, given, folder)
        stage = student_stage(student_start(student, source, folder), epochs, lr)
        return published(make_one(source, rows, stage, folder), rows.score_name, target)


def student_stage(start: Json, epochs: float, lr: float) -> Json:
    from niwaki.compression.candidates import SOURCE

    methods = [*start.get("methods", []), {"use": "logits", "temperature": TEMPERATURE}]
    train = {"epochs": epochs, "lr": lr, "dropout": 0.0}
    return {**start, "name": STUDENT, "teacher": SOURCE, "methods": methods, "train": train}


def student_start(student: object, source: Path, folder: Path) -> Json:
    """Keys of a stage: what the student starts from, and the methods that shape it."""
    from niwaki.compression.candidates import SOURCE
    from niwaki.core.errors import did_you_mean
    from niwaki.methods import METHODS
    from niwaki.models.model import skeleton_of

    if student is None:
        student = max(1, len(skeleton_of(source).anatomy.order) // 2)
    if isinstance(student, int) and not isinstance(student, bool):
        student = {"layers": student}
    if isinstance(student, Mapping):
        return {"start": SOURCE, "methods": [{"use": STUDENT, **student}]}
    if isinstance(student, str) and student in METHODS.names():
        return {"start": SOURCE, "methods": [{"use": student}]}
    if isinstance(student, str) and "/" not in student and not Path(student).expanduser().is_dir():
        from niwaki.data.embedded import MODELS

        if student not in MODELS:
            known = [*METHODS.names(), *MODELS]
            raise InputError(f"student '{student}': is neither a method nor a model{did_you_mean(student, known)}")
    return {"model": str(model_folder(student, folder / "student"))}
