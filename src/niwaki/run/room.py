"""Memory and disk that a run needs, checked before any work."""

from collections.abc import Sequence
from pathlib import Path

from niwaki.core.files import folder_bytes, require_memory, require_space, require_writable
from niwaki.core.shards import stored_bytes
from niwaki.run.estimate import cache_bytes
from niwaki.run.plan import Plan, PlannedStage
from niwaki.run.unlabelled_texts import cache_folder

COPY = 1 / 3  # size of a quantized copy relative to the weights, with its other files; an upper bound
ON_DISK = 8  # multiples of the weights on disk while training: two checkpoints
IN_MEMORY = 5  # and in memory: weights, gradients, two moments, best weights


def require_room(plan: Plan, folder: Path) -> None:
    """Checks write permission, disk space for everything missing, and the minimum memory for training."""
    for place in (folder, folder / "stages", folder / "cache"):
        require_writable(place)
    stages = [stage for one in (plan, *plan.repeats) for stage in one.stages]
    missing = [stage for stage in stages if not (folder / stage.folder).exists()]
    trains = any(stage.spec.train for stage in missing)
    weights = stored_bytes(plan.largest_source)
    models = sum(COPY if stage.copy_of else 1.0 for stage in missing)
    require_disk(plan, folder, missing, int(weights * (models + ON_DISK * trains)))
    require_memory(
        weights * (1 + (IN_MEMORY - 1) * trains + max((len(stage.spec.teachers) for stage in missing), default=0)),
        "this run",
    )


def require_disk(plan: Plan, folder: Path, missing: Sequence[PlannedStage], need_bytes: int) -> None:
    """Checks the disk of the run folder and that of the teacher cache, which may be another."""
    cache = cache_folder(plan.recipe.cache, folder)
    own = {stage.spec.name for stage in plan.stages}
    cached = cache_bytes(plan, [stage for stage in missing if stage.spec.name in own])
    cached = max(0, cached - folder_bytes(cache)) if cache.is_dir() else cached  # some of it may be there already
    if disk_of(cache) == disk_of(folder):
        require_space(folder, need_bytes + cached, "this run")
        return
    require_space(folder, need_bytes, "this run")
    require_space(cache, cached, "the teacher outputs of this run")


def disk_of(path: Path) -> int:
    return next(place for place in [path, *path.parents] if place.exists()).stat().st_dev
