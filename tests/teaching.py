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


def teacher(whole, collator, asked=frozenset(), folder: Path | None = None, precision="fp32"):
    """`asked` are insides by name; without a folder nothing is kept."""
    names = (LOGITS, *sorted(asked))
    rows = collator.features.rows
    alone = ActivationRunner(whole, asked, 1)
    ask = partial(alone, rows) if asked else batched_teacher_function(whole, collator, precision)
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
