"""What a search varies: which stages are made and in which order, which methods take part, and their settings.

The values come from the methods themselves (`tune` next to a setting) and from `[search] space`. The first stage is the source and
stays as it is. Stages that only pack weights are left out: every model is tried in all number formats anyway.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from niwaki.core.json_types import Json
from niwaki.core.settings import tuned
from niwaki.methods import METHODS
from niwaki.methods._method import Bakes, Method, ReadsStages, Reshapes
from niwaki.models.model import Model
from niwaki.run.recipe_settings import Recipe, Stage
from niwaki.run.search_settings import OFF, ON

Value = bool | int | float | str
Point = Mapping[str, Value]  # a value for each path
ORDER, THEN = "stages", " > "  # the path of the choice of stages, and what joins their names
SHARES = {  # of a size of the start model
    "layers": (1 / 6, 1 / 3, 1 / 2, 2 / 3),
    "hidden": (1 / 3, 1 / 2, 2 / 3),
    "heads": (1 / 3, 1 / 2, 2 / 3),
    "ffn": (1 / 4, 1 / 2, 3 / 4),
    "embedding": (1 / 6, 1 / 3),
}
MULTIPLES = {"hidden": 16, "ffn": 64, "embedding": 16}  # odd sizes run slower
MAX_ORDERS = 24


@dataclass(frozen=True)
class Dimension:
    """A path and the values that are tried there. It matters only if its stage is made."""

    path: str
    values: tuple[Value, ...]
    stage: str = ""

    @property
    def is_ordered(self) -> bool:
        """Whether a sampler may interpolate between the values."""
        numbers = [value for value in self.values if isinstance(value, int | float) and not isinstance(value, bool)]
        return len(self.values) > 2 and len(numbers) >= len(self.values) - 1 and self.values[-1] in (OFF, *numbers)


@dataclass(frozen=True)
class Space:
    """The recipe whose settings are varied, as plain values, and the dimensions."""

    base: Json
    source: str  # name of the first stage
    later: tuple[str, ...]  # names of the stages after it, in the order of the recipe
    dimensions: tuple[Dimension, ...]

    def stages_of(self, point: Point) -> tuple[str, ...]:
        """The stages that a point makes after the source."""
        chosen = point.get(ORDER)
        return self.later if chosen is None else tuple(str(chosen).split(THEN))

    def active(self, point: Point) -> list[Dimension]:
        """The dimensions that matter for a point whose stages are known."""
        stages = ("", *self.stages_of(point))
        return [dimension for dimension in self.dimensions if dimension.stage in stages]

    def points(self) -> Iterator[Point]:
        """Every point, always in the same order."""
        orders = next((one.values for one in self.dimensions if one.path == ORDER), (None,))
        for order in orders:
            start: dict[str, Value] = {} if order is None else {ORDER: order}
            others = [one for one in self.active(start) if one.path != ORDER]
            for values in itertools.product(*(one.values for one in others)):
                yield {**start, **{one.path: value for one, value in zip(others, values, strict=True)}}

    def size(self) -> int:
        """Number of points."""
        orders = next((one.values for one in self.dimensions if one.path == ORDER), (None,))
        total = 0
        for order in orders:
            count = 1
            for one in self.active({} if order is None else {ORDER: order}):
                count *= 1 if one.path == ORDER else len(one.values)
            total += count
        return total


def make_space(recipe: Recipe, start: Model) -> Space:
    """The space of a recipe; `start` is the source's skeleton."""
    first, *others = recipe.stages
    kept = [stage for stage in others if not only_packs(stage)]
    given = dict(recipe.search.space) if recipe.search else {}
    dimensions = [order_of(kept)] if len(kept) > 1 and all(may_move(stage, kept) for stage in kept) else []
    for stage in kept:
        for dimension in dimensions_of(stage, sizes_of(start)):
            values = tuple(given.pop(dimension.path, dimension.values))
            dimensions.append(Dimension(dimension.path, values, stage.name))
    dimensions += [Dimension(path, tuple(values), path.split(".")[1]) for path, values in given.items()]
    base = recipe.model_dump(exclude_unset=True, exclude_none=True, exclude={"search", "cascade", "seeds"})
    base["stages"] = [stage.model_dump(exclude_unset=True, exclude_none=True) for stage in (first, *kept)]
    return Space(base, first.name, tuple(stage.name for stage in kept), tuple(dimensions))


def only_packs(stage: Stage) -> bool:
    """Whether a stage trains nothing and only packs weights, like a quantized copy."""
    families = {METHODS.entry(values["use"]).family for values in stage.methods}
    return stage.train is None and families == {"quantize"}


def may_move(stage: Stage, others: Sequence[Stage]) -> bool:
    """Whether a stage can be left out or made at another place: it starts from the one before, and no other names it."""
    named = {name for other in others for name in (other.start, *other.teachers)}
    named |= {name for other in others for values in other.methods for name in _stages_read(values)}
    return not (stage.start or stage.model or stage.alternatives or stage.tasks or stage.name in named)


def _stages_read(values: Json) -> tuple[str, ...]:
    if not issubclass(METHODS.load(values["use"], Method), ReadsStages):
        return ()
    return tuple(str(value) for key, value in values.items() if key != "use" and isinstance(value, str))


def order_of(stages: Sequence[Stage]) -> Dimension:
    """Every choice of one or more stages in every order, the shortest first."""
    names = [stage.name for stage in stages]
    chosen = (order for count in range(1, len(names) + 1) for order in itertools.permutations(names, count))
    return Dimension(ORDER, tuple(THEN.join(order) for order in itertools.islice(chosen, MAX_ORDERS)))


def dimensions_of(stage: Stage, sizes: Mapping[str, int]) -> Iterator[Dimension]:
    """Whether each method that makes the model smaller takes part, and its settings."""
    for values in stage.methods:
        kind = METHODS.load(values["use"], Method)
        if not kind.requires.reduces or METHODS.entry(values["use"]).family == "quantize":
            continue
        path = f"stages.{stage.name}.methods.{values['use']}"
        settings = tuned(kind)
        if not settings and issubclass(kind, Reshapes | Bakes):
            yield Dimension(path, (ON, OFF), stage.name)
        for name, tune in settings.items():
            tried = shares_of(tune, sizes) if isinstance(tune, str) else tuple(tune)
            yield Dimension(f"{path}.{name}", (*tried, OFF), stage.name)


def shares_of(size: str, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """Shares of a size of the start model, rounded to its multiple, each once."""
    whole, multiple = sizes.get(size, 0), MULTIPLES.get(size, 1)
    found = (max(multiple, round(share * whole / multiple) * multiple) for share in SHARES[size])
    return tuple(dict.fromkeys(value for value in found if 0 < value < whole))


def sizes_of(start: Model) -> dict[str, int]:
    """Sizes of the start model; a network without attention layers has only those that exist."""
    anatomy = start.anatomy
    found = {"embedding": anatomy.tokens.embedding_dim}
    if anatomy.layers:
        found |= {
            "layers": len(anatomy.order),
            "hidden": anatomy.hidden_size,
            "heads": max(layer.heads for layer in anatomy.layers),
            "ffn": max(layer.ffn_size for layer in anatomy.layers),
        }
    return found
