"""One layer, or one attention of a decoder's layer with what follows it: modules by role, mixer and feed-forward block."""

from collections.abc import Iterator
from operator import attrgetter
from typing import Any, cast

from torch import Tensor, nn

from niwaki.models.dropout import dropout
from niwaki.models.family import LayerPaths
from niwaki.models.fused import add_norm, pre_norm
from niwaki.models.layout import Layout
from niwaki.models.parts._part import Part
from niwaki.models.parts.feed_forwards._feed_forward import FEED_FORWARDS, FeedForward
from niwaki.models.parts.mixers._mixer import MIXERS, Mixer
from niwaki.models.parts.reductions._reduction import Reduction
from niwaki.models.record import Record

SLOTS = MIXER, FEED_FORWARD = "mixer", "feed_forward"  # where `edits/replace_part.py` puts a module into a layer
REDUCTION = "reduction"  # and one that shortens texts
NORMS = ("attention_norm", "ffn_norm")


class Layer:
    """A role is a field of `LayerPaths`, or the path of a matrix of a part that was put in (`mixer.out`). The matrices of attention that was
    put in have both names."""

    def __init__(self, module: nn.Module, paths: LayerPaths) -> None:
        self.module = module
        self.paths = paths

    def path(self, role: str) -> str:
        """Relative to the layer; "" where it has none."""
        if "." in role:
            return role
        own = self.module._modules.get(MIXER)
        return f"{MIXER}.{role}" if isinstance(own, Mixer) and role in own.matrices else getattr(self.paths, role)

    def part(self, role: str) -> Any:
        """The module of a role."""
        return self.module.get_submodule(self.path(role))

    def replace(self, role: str, new: nn.Module) -> None:
        self.module.set_submodule(self.path(role), new)

    @property
    def mixer(self) -> Any:
        """A `Mixer`: that of the family, unless another was put in."""
        own = self.module._modules.get(MIXER)
        kind: Any = MIXERS.load(self.paths.stack.mixer, Mixer)
        return own if isinstance(own, Mixer) else kind(self)

    @property
    def feed_forward(self) -> Any:
        """A `FeedForward`, or None where there is none behind an attention."""
        own = self.module._modules.get(FEED_FORWARD)
        if isinstance(own, FeedForward) or not self.paths.ffn_in:
            return own
        kind: Any = FEED_FORWARDS.load(self.paths.stack.feed_forward, FeedForward)
        return kind(self)

    @property
    def has_attention(self) -> bool:
        """Whether heads can be counted and cut; those of an attention that was removed too."""
        return self.mixer.heads > 0

    @property
    def heads(self) -> int:
        return self.mixer.heads

    @property
    def head_size(self) -> int:
        return self.mixer.head_size

    @property
    def ffn_size(self) -> int:
        return self.feed_forward.ffn_size

    @property
    def norms(self) -> list[str]:
        """Roles of the norms; some families leave out the first one of all."""
        return [role for role in NORMS if self.path(role) and not isinstance(self.part(role), nn.Identity)]

    def matrices(self, *slots: str) -> list[str]:
        """Roles of the matrices of mixer and feed-forward block, or of one of these."""
        return list(
            dict.fromkeys(
                role for slot in slots or SLOTS for role in self._roles(slot, "from_hidden", "between", "to_hidden")
            )
        )

    def roles(self, side: str) -> set[str]:
        """Roles of the matrices whose inputs are hidden states (`from_hidden`), or whose outputs are (`to_hidden`)."""
        return {role for slot in SLOTS for role in self._roles(slot, side)}

    def _roles(self, slot: str, *sides: str) -> Iterator[str]:
        found: Part | None = getattr(self, slot)
        if found is not None:
            own = f"{slot}." if isinstance(found, nn.Module) else ""
            yield from (f"{own}{role}" for side in sides for role in getattr(found, side))

    def run(self, rows: Tensor, layout: Layout, every: bool, record: Record) -> tuple[Tensor, Layout]:
        """Rows (…, hidden) of all tokens to those of all (`every`), or of the first of each sequence alone. The layout is another one
        where the layer shortens texts."""
        rows, layout = mixed_rows(self, rows, layout, every, record)
        return self.feed(rows, layout, record), layout

    def add(self, rows: Tensor, mixed: Tensor) -> Tensor:
        """What the mixer gives, added to the rows."""
        return merged(self, rows, mixed, "out_dropout", "attention_norm")

    def feed(self, rows: Tensor, layout: Layout | None = None, record: Record | None = None) -> Tensor:
        """Rows through the feed-forward block."""
        record = {} if record is None else record
        inner = self.feed_forward.forward_in(self.before("ffn_norm", rows), layout, record)
        return merged(self, rows, inner, "ffn_dropout", "ffn_norm")

    def drop(self, role: str, x: Tensor) -> Tensor:
        """Dropout while training."""
        rate = self.dropout_rate(role)
        return dropout(x, rate) if rate else x

    def dropout_rate(self, role: str) -> float:
        """0 unless training."""
        return configured_dropout(self, role) if self.module.training else 0.0

    def before(self, norm: str, rows: Tensor) -> Tensor:
        """Hidden states as a block reads them."""
        return normed(rows, self.part(norm)) if self.paths.pre_norm else rows


def mixed_rows(layer: Layer, rows: Tensor, layout: Layout, every: bool, record: Record) -> tuple[Tensor, Layout]:
    """The first half of a layer: mixer, residual connection and, where there is one, what shortens texts."""
    mixer, read = layer.mixer, layer.before("attention_norm", rows)
    wanted = rows if every else layout.first(rows)
    reduction = reduction_of(layer) if every else None
    if reduction is not None and reduction.needs_attention:
        layout.received = []
    mixed = (mixer.forward if every else mixer.forward_first)(read, layout, record)
    rows = layer.add(wanted, mixed)
    return (rows, layout) if reduction is None else reduction.forward(rows, layout)


def reduction_of(layer: Layer) -> Reduction | None:
    """What shortens texts in a layer."""
    own = layer.module._modules.get(REDUCTION)
    return own if isinstance(own, Reduction) else None


def hidden_matrices(layer: Layer) -> list[str]:
    """Roles of all matrices that read or write hidden states: those that are cut when these become narrower."""
    return [*layer.matrices(), *sorted(layer.roles("floats"))]


def configured_dropout(layer: Layer, role: str) -> float:
    """The rate while training. The family names where it is: a dropout module, or a number as in BART."""
    path = layer.path(role)
    if not path:
        return 0.0
    found = attrgetter(path)(layer.module)
    if isinstance(found, nn.Module):
        return found.p if isinstance(found, nn.Dropout) else 0.0  # a family may leave it out
    return float(found)


def normed(rows: Tensor, norm: nn.Module) -> Tensor:
    """The norm of rows that stay in fp32."""
    fits = isinstance(norm, nn.LayerNorm) and pre_norm.fits(rows, norm)
    return pre_norm.pre_norm(rows, cast(nn.LayerNorm, norm)) if fits else norm(rows)


def merged(layer: Layer, rows: Tensor, block: Tensor, drop: str, norm: str) -> Tensor:
    """A block's output with dropout, added to the rows; normed unless norms come first."""
    if not layer.paths.pre_norm and add_norm.fits(block, rows, layer.part(norm)):
        return add_norm.add_norm(block, rows, layer.part(norm), layer.dropout_rate(drop))
    added = layer.drop(drop, block) + rows
    return added if layer.paths.pre_norm else layer.part(norm)(added)
