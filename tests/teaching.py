"""A teacher as a stage makes it, for tests of what lies below stages."""

from functools import partial
from pathlib import Path
from types import SimpleNamespace

from niwaki.engines.activation_runner import ActivationRunner
from niwaki.models.activations import LOGITS, numbers
from niwaki.train.teacher import (
    CachedTeacherFunction,
    CacheLayout,
    Teacher,
    batched_teacher_function,
    memoize_last_batch,
)
from niwaki.train.teacher_cache import TeacherCache

ROOM = 1 << 30


def teacher(whole, collator, wanted=frozenset(), folder: Path | None = None, precision="fp32"):
    """`wanted` are names of activations; without a folder nothing is cached."""
    names = (LOGITS, *sorted(wanted))
    rows = collator.features.rows
    alone = ActivationRunner(whole, wanted, 1)
    ask = partial(alone, rows) if wanted else batched_teacher_function(whole, collator, precision)
    outputs_of = (
        CachedTeacherFunction(
            TeacherCache(folder, ROOM),
            CacheLayout(("whole", precision), rows, names, partial(numbers, whole.anatomy), whole.anatomy.per_token),
            ask,
            "teacher",
            lambda: None,
        )
        if folder
        else ask
    )
    return memoize_last_batch(Teacher(collator, names, whole.anatomy.per_token, outputs_of))


def layers(count):
    """All that a method asks of a teacher's model in its loss: how many layers it has."""
    return SimpleNamespace(anatomy=SimpleNamespace(order=list(range(count))))
