"""What a point will cost, without training it: bytes and FLOPs from a dry run on skeletons, time and energy from two timed models.

The timed models are the source and the source cut to one layer. Between them, time grows with FLOPs.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from tokenizers import Tokenizer

from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.core.problems import Problems
from niwaki.evaluate.footprint import flops
from niwaki.methods.prune.vocabulary import Vocabulary
from niwaki.models.edits.vocabulary import Vocabulary as VocabularyEdit
from niwaki.models.model import Model
from niwaki.run.estimate import tokens_of, weights_bytes
from niwaki.run.quantized import COPY_METHODS, packed
from niwaki.run.recipe_settings import Recipe
from niwaki.run.validation.draft import Draft, resolve_stages
from niwaki.run.validation.validate import STAGE_CHECKS
from niwaki.search.limits import Figures
from niwaki.search.points import FLOAT
from niwaki.tokenization.trimming import used_tokens

TIMED = ("latency_ms", "p99_ms", "seconds_per_text", "joules_per_1000")


@dataclass(frozen=True)
class Size:
    bytes: int
    flops: int


class Forecast:
    """Sizes of points, from the checked draft of the base recipe. `other_bytes` are those of the source that are not weights."""

    def __init__(self, draft: Draft, other_bytes: int) -> None:
        self.draft, self.other_bytes = draft, other_bytes
        self.tokens = tokens_of(draft.task)
        self.used = cache(self._used)

    def sizes(self, recipe: Recipe, last: str, kinds: Sequence[str]) -> dict[str, Size]:
        """By number format, for the model of stage `last`. Raises InputError if the recipe cannot be made."""
        draft = Draft(recipe, frozenset(), self.draft.task, self.draft.folders, self.draft.tokenizers, has_rows=True)
        draft.stages = resolve_stages(recipe, draft.folders)
        problems = Problems()
        for check in STAGE_CHECKS:
            check(draft, problems)
        problems.raise_any()
        whole = draft.shapes[last].finished
        for method in (one for stage in draft.stages for one in stage.methods):
            if isinstance(method, Vocabulary):
                trim(whole, self.used(method.min_count, method.all_characters, recipe.model))
        operations = flops(whole, self.tokens)
        return {kind: Size(size + self.other_bytes, operations) for kind, size in packed_bytes(whole, kinds)}

    def _used(self, min_count: int, all_characters: bool, model: str) -> int:
        """How many tokens of the model's vocabulary the training rows use."""
        tokenizer = self.draft.tokenizers[model]
        assert isinstance(tokenizer, Tokenizer)  # the dry run rejects method 'vocabulary' on a model that reads images
        texts = self.draft.task.texts(self.draft.task.splits()["train"])
        return len(used_tokens(tokenizer, texts, min_count, all_characters))


def trim(model: Model, tokens: int) -> None:
    if tokens < model.anatomy.tokens.num_embeddings:
        model.apply_edit(VocabularyEdit(keep=tokens))


def packed_bytes(whole: Model, kinds: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Bytes of the weights by number format. A format that this network cannot have is left out."""
    for kind in kinds:
        if kind == FLOAT:
            yield kind, weights_bytes(whole)
            continue
        try:
            yield kind, weights_bytes(packed(whole, COPY_METHODS[kind]))
        except InputError:
            continue


def timed(times: Mapping[str, Json], kind: str, engine: str, operations: int) -> Json:
    """Time and energy of a model with so many FLOPs, on the line through the timed models; {} if none was timed."""
    whole = times.get(f"{kind}/{engine}")
    if whole is None:
        return {}
    found = {}
    for name in TIMED:
        full, one = whole["full"].get(name), (whole.get("one") or {}).get(name)
        if full is None:
            continue
        span = whole["flops"] - whole.get("one_flops", 0)
        fixed = 0.0 if one is None or span <= 0 or one >= full else one - (full - one) / span * whole["one_flops"]
        slope = (full - fixed) / max(whole["flops"], 1)
        found[name] = max(fixed + slope * operations, 1e-9)
    return found


def figures(kept: float, size: int, time: Json) -> Figures:
    """The figures of a model from its score, its size and what `timed` gives."""
    seconds = time.get("seconds_per_text")
    return Figures(
        kept,
        size,
        time.get("latency_ms"),
        time.get("p99_ms"),
        1 / seconds if seconds else None,
        time.get("joules_per_1000"),
    )


def rank_correlation(predicted: Sequence[float], measured: Sequence[float]) -> float | None:
    """Spearman's; None for fewer than three pairs, or where all are equal."""
    from scipy.stats import spearmanr

    if len(predicted) < 3 or len(set(predicted)) < 2 or len(set(measured)) < 2:
        return None
    return float(spearmanr(predicted, measured).statistic)
