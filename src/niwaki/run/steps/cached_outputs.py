"""Teacher outputs from the cache that runs share, computed where they are missing."""

from niwaki.core.files import require_space
from niwaki.core.log import info
from niwaki.run.steps.job import StageJob
from niwaki.run.unlabelled_texts import cache_folder
from niwaki.train import distributed
from niwaki.train.teacher import CachedTeacherFunction, CacheLayout, TeacherFunction
from niwaki.train.teacher_cache import TeacherCache


def with_cache(job: StageJob, layout: CacheLayout, teacher_function: TeacherFunction, always: bool) -> TeacherFunction:
    """`teacher_function` backed by the teacher cache. Outputs that exceed `cache.gigabytes` are not cached, unless `always`."""
    settings, label = job.plan.recipe.cache, f"{job.name}: teacher"
    folder, required_bytes = cache_folder(settings, job.run_folder), sum(layout.bytes.values())
    cache = TeacherCache(folder, max(int(settings.gigabytes * 1e9), required_bytes if always else 0))
    fits = distributed.from_main_process(lambda: float(cache.make_room(layout.bytes)))  # all must do the same
    if not fits and not always:
        info(
            f"{label}: its outputs for {len(layout.lengths)} texts would take {required_bytes / 1e9:.1f} GB (cache.gigabytes is "
            f"{settings.gigabytes:g}), so they are computed at every step; the weights will be the same"
        )
        return teacher_function
    info(
        f"{label}: reads {len(layout.lengths)} texts that are not cached yet; takes {required_bytes / 1e9:.2g} GB in {folder}"
    )
    require_space(
        folder if folder.exists() else job.run_folder, cache.missing(layout.bytes), f"stage '{job.name}', its teacher"
    )
    return CachedTeacherFunction(cache, layout, teacher_function, label, job.stop_if_requested)
