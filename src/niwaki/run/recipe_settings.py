"""The settings of a recipe: model, task, data, stages."""

from typing import Literal

from niwaki.core.head_folder import NAME
from niwaki.core.json_types import Json
from niwaki.core.settings import Settings, check, setting
from niwaki.meter import Window, meter
from niwaki.methods._factory import make_method
from niwaki.methods._method import Method
from niwaki.run.search_settings import SearchSettings
from niwaki.tasks import TASKS
from niwaki.tasks._task import Task
from niwaki.train.settings import TrainSettings

PRETRAINED = "pretrained"


class Alternative(Settings):
    """Other methods and training for a stage."""

    methods: list[Json] = setting([], "methods in this order: { use = name, setting = value … }")
    train: TrainSettings | None = setting(None, "training settings; none trains nothing")


class FurtherTask(Settings):
    """A task that a stage trains next to the recipe's."""

    name: str = setting(
        ..., "name of its head, saved as heads/<name> of the stage's model", pattern=f"^{NAME.pattern}$"
    )
    task: str = setting("classification", "name of a task")
    data: Json = setting({}, "settings of the task")
    weight: float = setting(1.0, "factor of its loss", gt=0)

    def make(self) -> Task:
        return check(TASKS.load(self.task, Task), self.data, f"tasks.{self.name}.data")


class Stage(Settings):
    name: str = setting(..., "name of the stage")
    start: str = setting(
        "", f"stage whose model it starts from, or '{PRETRAINED}' for the recipe's model; none takes the previous stage"
    )
    model: str = setting("", "another pretrained model to start from: embedded name, folder, or Hugging Face id")
    teacher: str | list[str] = setting("", "stage whose model is the teacher; several are averaged (mean logits)")
    methods: list[Json] = setting([], "methods in this order: { use = name, setting = value … }")
    train: TrainSettings | None = setting(None, "training settings; none trains nothing")
    tasks: list[FurtherTask] = setting(
        [], "further tasks to train at the same time on the same encoder", max_length=100
    )
    alternatives: list[Alternative] = setting(
        [],
        "other methods and training; those with the fewest errors on held-out training rows are taken",
        max_length=20,
    )
    folds: int = setting(
        3, "parts of the training rows that are held out in turn to compare the alternatives", ge=2, le=20
    )
    replica: int = setting(
        0, "changes the stage's random numbers: equal stages with different replicas form an ensemble", ge=0
    )

    @property
    def teachers(self) -> list[str]:
        named = [self.teacher] if isinstance(self.teacher, str) else self.teacher
        return [name for name in named if name]

    def variants(self) -> "list[Stage]":
        """The stage with each of its alternatives."""
        return [
            self.model_copy(update={"methods": other.methods, "train": other.train, "alternatives": []})
            for other in self.alternatives
        ]


class CacheSettings(Settings):
    """What runs share. No result depends on it."""

    folder: str = setting("", "folder of teacher outputs; none takes `.teachers` next to the run folder")
    gigabytes: float = setting(
        20.0, "size limit of the teacher outputs; a stage that needs more runs its teacher at every step", ge=0, le=1e6
    )
    stages: bool = setting(True, "whether stages that other runs next to this one have finished are used again")


class MeterSettings(Settings):
    place: str | float = setting("", "country (ISO 3166 code or name) or g CO2e/kWh; none leaves CO2e unknown")
    pue: str | float = setting("", "overhead of the data centre: a number, or a name in the meter's table")
    price: str | float = setting("", "dollars per vCPU-hour, or a name in the meter's table; none leaves money unknown")

    def window(self) -> Window:
        place, pue, price = (None if value == "" else value for value in (self.place, self.pue, self.price))
        return meter(place=place, pue=pue, price=price)


class CascadeSettings(Settings):
    """A cascade of stages, made when all are finished."""

    stages: list[str] = setting(
        ..., "stages or their quantized copies, cheapest first; one is enough if it has exits", min_length=1
    )
    keep: float = setting(0.99, "share of the last one's score that must be kept", gt=0, le=1)
    level: float = setting(0.95, "confidence level of that", gt=0.5, lt=1)


class Recipe(Settings):
    model: str = setting("minilm", "embedded name, folder, or Hugging Face id")
    task: str = setting("rotten_tomatoes", "name of a task")
    data: Json = setting({}, "settings of the task")
    seed: int = setting(0, "seed of all random numbers", ge=0, lt=2**31)
    seeds: list[int] = setting([], "several seeds: every stage is made with each, and the report shows the spread")
    meter: MeterSettings = setting(MeterSettings(), "where the electricity comes from and what it costs")
    vectors: str = setting(
        "", "file of word vectors in GloVe's format for the baseline; none takes the model's embeddings"
    )
    quantize: list[Literal["int8", "4bit"]] = setting(
        ["int8", "4bit"], "quantized copies, without training, to make and score of every stage; [] makes none"
    )
    baselines: bool = setting(True, "whether to train simple baselines on the same rows and compare with them")
    race: Literal["full", "short"] = setting(
        "full", "how to time the stages: short leaves out memory and engines that niwaki.load does not pick"
    )
    cache: CacheSettings = setting(CacheSettings(), "what runs share: teacher outputs and finished stages")
    cascade: CascadeSettings | None = setting(None, "a cascade of stages; none makes none")
    search: SearchSettings | None = setting(None, "limits and objective of `niwaki search`; `niwaki run` ignores them")
    stages: list[Stage] = setting(..., "stages in order", min_length=1)

    def make_task(self) -> Task:
        return check(TASKS.load(self.task, Task), self.data, "data")

    def make_methods(self, stage: Stage) -> list[Method]:
        return [make_method(values, "") for values in stage.methods]
