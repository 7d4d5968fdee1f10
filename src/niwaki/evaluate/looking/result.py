"""What was found about one model and one input: as JSON, as text, and as a page."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape

import numpy as np
from torch import Tensor

from niwaki.answers._answer_type import Input
from niwaki.core.json_types import Json
from niwaki.evaluate.looking.reading import Reading

MOST_WEIGHTS = 800_000  # attention weights in a page or in JSON; longer texts get the mean over the heads of a layer
DIGITS = 4
SHOWN_WORDS = 12


@dataclass
class Explained:
    """The number that attributions explain, and both attributions. `read` gives the number of other logits of the same sequence."""

    what: str
    value: float
    read: Callable[[Tensor], float] = field(repr=False)
    gradients: Json | None = None
    occlusion: Json | None = None
    agreement: float | None = None  # rank correlation of both over the words


@dataclass
class Look:
    """The object that `niwaki.look` returns. `attention` has one array (heads, tokens, tokens) for each layer; `not_shown` says what is
    missing, and why."""

    model: str
    kind: str
    given: Input
    reading: Reading = field(repr=False)
    engine: str = ""
    answer: str = ""
    record: Json = field(default_factory=dict, repr=False)
    attention: list[np.ndarray] = field(default_factory=list, repr=False)
    layers: list[Json] = field(default_factory=list, repr=False)
    explained: Explained | None = field(default=None, repr=False)
    neighbours: list[Json] = field(default_factory=list, repr=False)
    masks: list[list[Json]] = field(default_factory=list, repr=False)
    not_shown: dict[str, str] = field(default_factory=dict)

    @property
    def tokens(self) -> list[str]:
        return self.reading.tokens

    @property
    def words(self) -> list[str]:
        return [word.text for word in self.reading.words]

    def to_json(self) -> Json:
        """Plain data. Attention weights are rounded; of long texts they are means over heads, as `attention.mean_over_heads` says."""
        found = self.explained
        return {
            "version": 1,
            "model": self.model,
            "engine": self.engine,
            "kind": self.kind,
            "input": _plain(self.given),
            "answer": self.answer,
            "record": self.record,
            "tokens": self.tokens,
            "words": self.words,
            "word_of": self.reading.word_of,
            "target": {"what": found.what, "value": found.value} if found else None,
            "integrated_gradients": found.gradients if found else None,
            "occlusion": found.occlusion if found else None,
            "rank_correlation": found.agreement if found else None,
            "layers": self.layers,
            "attention": self._attention(),
            "neighbours": self.neighbours,
            "masks": self.masks,
            "not_shown": self.not_shown,
        }

    def _attention(self) -> Json | None:
        if not self.attention:
            return None
        means = sum(layer.size for layer in self.attention) > MOST_WEIGHTS
        shown = [layer.mean(axis=0, keepdims=True) if means else layer for layer in self.attention]
        tokens = len(self.tokens)
        while tokens > 1 and len(shown) * tokens**2 > MOST_WEIGHTS:
            tokens -= 1
        weights = [np.round(layer[:, :tokens, :tokens].astype(float), DIGITS).tolist() for layer in shown]
        heads = [len(layer) for layer in self.attention]
        return {"heads": heads, "mean_over_heads": means, "tokens": tokens, "weights": weights}

    def summary(self) -> str:
        """A few lines for a terminal."""
        lines = [f"answer    {self.answer}"]
        if self.explained:
            lines += _explained(self.words, self.explained)
        lines += _by_layer(self.layers)
        if self.attention:
            heads = "+".join(str(len(layer)) for layer in self.attention)
            lines.append(
                f"attention {len(self.attention)} layers, {heads} heads, {len(self.tokens)} tokens; --out PAGE.html shows them"
            )
        lines += [
            f"similar   {one['similarity']:.3f}  line {one['line']}  {one['label'] or one['answer']}  {_short(one['text'])}"
            for one in self.neighbours
        ]
        return "\n".join([*lines, *(f"not shown: {name} ({reason})" for name, reason in self.not_shown.items())])

    def page(self) -> str:
        """An HTML page that needs no other file."""
        from niwaki.report.look_page import page

        return page(self.to_json())

    def _repr_html_(self) -> str:
        """In a notebook the page stands in a frame of its own, so that its style and script touch nothing else."""
        return f'<iframe sandbox="allow-scripts" title="niwaki look" width="100%" height="640" style="border:0" srcdoc="{escape(self.page())}"></iframe>'


def _plain(given: object) -> object:
    """An input as JSON can hold it."""
    if isinstance(given, list | tuple):
        return [_plain(one) for one in given]
    return given if isinstance(given, str | int | float | None) else str(given)


def _explained(words: Sequence[str], found: Explained) -> list[str]:
    lines = [f"explained {found.what}: {found.value:.3f}", *_by_word(words, found.gradients, found.occlusion)]
    if found.gradients:
        about = "integrated gradients sum to {total:.3f}, the difference to the baseline '{baseline}' is {difference:.3f} ({steps} steps)"
        lines.append(about.format(**found.gradients))
    if found.agreement is not None:
        lines.append(f"rank correlation of both attributions: {found.agreement:.2f}")
    return lines


def _by_word(words: Sequence[str], gradients: Json | None, occlusion: Json | None) -> list[str]:
    """The words with the largest attributions."""
    columns = [found["words"] if found else [None] * len(words) for found in (gradients, occlusion)]
    rows = [(word, *values) for word, *values in zip(words, *columns, strict=True)]
    rows = [row for row in rows if row[1] is not None or row[2] is not None]
    rows.sort(key=lambda row: -abs(row[1] if row[1] is not None else row[2] or 0.0))
    if not rows:
        return []
    shown = [f"  {word[:20]:<20} {_signed(first)} {_signed(second)}" for word, first, second in rows[:SHOWN_WORDS]]
    more = [f"  ({len(rows) - SHOWN_WORDS} more)"] if len(rows) > SHOWN_WORDS else []
    return [f"  {'word':<20} {'gradients':>9} {'left out':>9}", *shown, *more]


def _by_layer(layers: Sequence[Json]) -> list[str]:
    return [
        f"  {_depth(row['layer']):<12} {'' if row['confidence'] is None else format(row['confidence'], '.3f'):>6}  {_short(row['answer'])}"
        for row in layers
    ]


def _depth(number: int) -> str:
    return f"layer {number}" if number else "embeddings"


def _signed(value: float | None) -> str:
    return f"{'':>9}" if value is None else f"{value:>+9.3f}"


def _short(text: object) -> str:
    found = " ⇥ ".join(map(str, text)) if isinstance(text, tuple | list) else str(text)
    return found if len(found) <= 70 else f"{found[:69]}…"
