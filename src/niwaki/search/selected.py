"""The model that a search selects: timed once more, compared with the source on test rows, and when the search pays back.

Candidates were chosen by validation rows and their times in a trial. The best of many is partly luck, so the times of the first few
candidates are measured again before one is selected, and its score is given on rows that the search never used.
"""

from collections.abc import Iterator, Sequence

from niwaki.compression.judge import example_stats
from niwaki.core.errors import UsageError
from niwaki.core.json_types import Json
from niwaki.core.log import info
from niwaki.core.model_integrity import STAGES, folder_name
from niwaki.evaluate.quality import difference, quality
from niwaki.meter.ledger import total_of
from niwaki.meter.payback import NOT_SHOWN, payback
from niwaki.meter.reading import Reading
from niwaki.run.runner import result_of
from niwaki.search import timing
from niwaki.search.job import SearchJob
from niwaki.search.limits import Figures, loss, missed_lines, shortfalls
from niwaki.search.points import FLOAT
from niwaki.search.search import SearchRecord
from niwaki.search.source import figures_of_source
from niwaki.search.trial import DONE

SOURCE_TRIAL = -1  # the source's own copies
AGAIN = 3  # candidates whose times are measured again
SAMPLES = "cpu_seconds_per_1000"


def candidates(searched: SearchRecord) -> Iterator[Json]:
    """Every model in every number format and engine, with its trial; of the source only copies."""
    listed = [(trial["number"], trial["variants"]) for trial in searched.journal.trials if trial["status"] == DONE]
    for number, variants in [(SOURCE_TRIAL, searched.source["variants"]), *listed]:
        for one in variants:
            if number != SOURCE_TRIAL or one["format"] != FLOAT:
                yield {**one, "trial": number}


def measured_figures(one: Json, source: Json) -> Figures:
    seconds = one["seconds_per_text"]
    kept = one["score"] / source["score"]
    return Figures(kept, one["bytes"], one["latency_ms"], one["p99_ms"], 1 / seconds, one["joules_per_1000"])


def ranked(searched: SearchRecord) -> list[Json]:
    """All candidates, the best first; those that miss a limit by the sum of what they miss."""
    source, settings = searched.source, searched.job.settings
    whole = figures_of_source(source)

    def order(one: Json) -> tuple[float, float, int]:
        figures = measured_figures(one, source)
        return loss(figures, whole, settings), -figures.kept, one["trial"]

    return sorted(candidates(searched), key=order)


def select(searched: SearchRecord) -> Json | None:
    """The best candidate whose times, measured again, are within the limits; otherwise the nearest. None if there is no candidate."""
    source, settings, found = searched.source, searched.job.settings, list[Json]()
    for one in ranked(searched)[: AGAIN if settings.limits_time else 1]:
        with searched.job.charged("selected"):
            race = timing.race(
                {"selected": (searched.job.folder / one["model"], one["engine"])},
                (searched.job.folder / source["model"], source["engine"]),
                searched.job.task,
                searched.job.window,
            )
        again = {**one, **timing.times_of(race, source["time"])["selected"], "race": race}
        figures = measured_figures(again, source)
        found.append({**again, "missed": missed_lines(figures, settings), "shortfalls": shortfalls(figures, settings)})
        if not found[-1]["missed"]:
            return found[-1]
    return min(found, key=lambda one: sum(one["shortfalls"].values()), default=None)


def on_test_rows(job: SearchJob, one: Json, source: Json) -> Json:
    """The selected model and the source on the test rows, with the paired interval of the difference."""
    own, whole = (example_stats(job.folder / each["model"], job.task, "test", each["engine"]) for each in (one, source))
    scores = [quality(job.task, stats, job.seed) for stats in (own, whole)]
    apart, base = difference(job.task, [own], [whole], job.seed), scores[1]["value"]
    kept = {name: 1 + apart[end] / base for name, end in FIGURES.items()} if base > 0 else dict.fromkeys(FIGURES)
    picked = ("value", "low", "high", "rows")
    selected, other = ({name: score[name] for name in picked} for score in scores)
    return {"metric": job.task.metric, "selected": selected, "source": other, "difference": apart, **kept}


FIGURES = {"kept": "difference", "kept_low": "low", "kept_high": "high"}


def spent_by(searched: SearchRecord) -> Reading:
    """Everything that the search spent, failed and killed work included, and what stages that it took from other runs cost there; not
    the training of the source."""
    job = searched.job
    lines = [line for line in job.ledger.lines() if line["stage"] != job.space.source]
    paid = {line["key"] for line in lines if line["what"] in ("train", "make")}
    taken = {line["key"]: line["stage"] for line in lines if line["what"] == "reuse" and line["key"] not in paid}
    spent = total_of(lines)["all"].reading
    for key, stage in taken.items():
        spent = spent + Reading.from_dict(result_of(job.folder / STAGES / folder_name(stage, key))["spent"])
    return spent


def payback_of(one: Json, spent: Reading, per_day: float | None = None) -> Json:
    """When the search pays back, if the selected model is used instead of the source."""
    contenders = one["race"]["contenders"]
    before, after = (contenders[name][SAMPLES] for name in (timing.REFERENCE, "selected"))
    try:
        return payback(spent, before, after, per_day).to_dict()
    except UsageError as error:
        return {"shown": False, "words": f"{NOT_SHOWN}: {error}"}


def finished(searched: SearchRecord, name: str, per_day: float | None = None) -> Json:
    """The content of search.json."""
    job, source = searched.job, searched.source
    info("search: comparing the selected model with the source on test rows")
    chosen = select(searched)
    spent = spent_by(searched)
    selected = None
    if chosen is not None:
        test = on_test_rows(job, chosen, source)
        selected = {**chosen, "test": test, "payback": payback_of(chosen, spent, per_day)}
    return {
        "version": 1,
        "name": name,
        "task": {"name": job.task.name, "metric": job.task.metric, "rows": rows_of(job)},
        "settings": job.settings.model_dump(exclude_none=True),
        "seed": job.seed,
        "points": job.space.size(),
        "dimensions": {one.path: list(one.values) for one in job.space.dimensions},
        "source": source,
        "trials": searched.journal.trials,
        "importance": searched.importance,
        "predictors": predictors(searched.journal.trials),
        "selected": selected,
        "spent": spent.to_dict(),
        "interrupted": searched.interrupted,
    }


def rows_of(job: SearchJob) -> dict[str, int]:
    return {part: table.num_rows for part, table in job.task.splits().items()}


def predictors(trials: Sequence[Json]) -> list[Json]:
    """How well each prediction ranked the models that were then measured."""
    from niwaki.search.predict import rank_correlation

    models = [one for trial in trials if trial["status"] == DONE for one in trial["variants"]]
    pairs = {
        ("size of the shapes", "size"): [(one["predicted"]["bytes"], one["bytes"]) for one in models],
        ("FLOPs", "latency"): [(one["predicted"]["flops"], one["latency_ms"]) for one in models],
        ("two timed models", "latency"): _pairs(models, "latency_ms"),
        ("two timed models", "p99 latency"): _pairs(models, "p99_ms"),
        ("two timed models", "energy"): _pairs(models, "joules_per_1000"),
        ("score after the first part", "score"): [
            (trial["part_scores"][0], trial["part_scores"][-1])
            for trial in trials
            if len(trial.get("part_scores", ())) > 2
        ],
    }
    return [
        {
            "predictor": predictor,
            "of": measured,
            "models": len(found),
            "correlation": rank_correlation([first for first, _ in found], [second for _, second in found]),
        }
        for (predictor, measured), found in pairs.items()
    ]


def _pairs(models: Sequence[Json], name: str) -> list[tuple[float, float]]:
    found = ((one["predicted"].get(name), one[name]) for one in models)
    return [(first, second) for first, second in found if first is not None and second is not None]
