"""A teacher as a stage makes it, for tests of what lies below stages."""

from functools import partial
from pathlib import Path
from types import SimpleNamespace

from niwaki.engines.alone import Alone
from niwaki.models.insides import LOGITS, numbers
from niwaki.train.kept import Kept
from niwaki.train.teacher import FromDisk, Shelf, Teacher, in_batches, remembering

ROOM = 1 << 30


def teacher(whole, feed, asked=frozenset(), folder: Path | None = None, precision="fp32"):
    """`asked` are insides by name; without a folder nothing is kept."""
    names = (LOGITS, *sorted(asked))
    rows = feed.features.rows
    alone = Alone(whole, asked, 1)
    ask = (lambda sequences: alone((rows.ids[one], rows.types[one]) for one in sequences)) if asked else in_batches(whole, feed, precision)  # fmt: skip
    says = FromDisk(Kept(folder, ROOM), Shelf(("whole", precision), rows, names, partial(numbers, whole.anatomy), whole.anatomy.per_token), ask, "teacher", lambda: None) if folder else ask  # fmt: skip
    return remembering(Teacher(feed, names, whole.anatomy.per_token, says))


def layers(count):
    """All that a method asks of a teacher's model in its loss: how many layers it has."""
    return SimpleNamespace(anatomy=SimpleNamespace(order=list(range(count))))
