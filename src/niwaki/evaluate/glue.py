"""The GLUE average (Wang et al. 2019): the metrics of a task are averaged first, then the nine tasks, each with the same weight."""

from collections.abc import Mapping
from statistics import mean

from niwaki.core.json_types import Json

TASKS = ("cola", "sst2", "mrpc", "stsb", "qqp", "mnli", "qnli", "rte", "wnli")


def task_score(result: Json) -> float:
    """From a result.json (or what `niwaki eval --json` says): the primary metric, which for two metrics is their mean; of
    MNLI's two test sets the mean."""
    score = result.get("score", result)
    return mean([score["value"], *(part["value"] for part in result.get("parts", {}).values())])


def average(scores: Mapping[str, float]) -> Json:
    """Over all nine tasks, and without WNLI as most tables give it; None where a task is missing, never over fewer."""
    missing = [task for task in TASKS if task not in scores]
    known = [scores[task] for task in TASKS if task in scores]
    without = [scores[task] for task in TASKS if task in scores and task != "wnli"]
    return {
        "average": mean(known) if not missing else None,
        "without_wnli": mean(without) if not set(missing) - {"wnli"} else None,
        "missing": missing,
    }
