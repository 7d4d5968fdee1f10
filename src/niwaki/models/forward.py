"""The forward pass, the only one there is: training, teachers, evaluation and export all run it.

    inputs ──> input stage ──> layer × N ──> head        layer:  mixer ── + ── norm ── feed-forward ── + ── norm

The input stage, mixers, feed-forward blocks and heads are parts (`models/parts/`); a layer (`layer.py`) adds norms and residual
connections. Rows are (…, hidden); the layout (`layout.py`) knows how they form sequences: packed without padding in torch,
padded in exported graphs. Callers name the activations they need; parts put them into the lists of `record`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from niwaki.answers._beam_search import START
from niwaki.core.errors import InputError
from niwaki.models.family import final_norm
from niwaki.models.layer import Layer, normed, reduction_of
from niwaki.models.layout import Layout, Packed, Padded
from niwaki.models.pairs import split_pairs
from niwaki.models.position_bias import set_position_bias
from niwaki.models.prefix import behind_prefix
from niwaki.models.prompt import in_front, with_prompt, without_prompt
from niwaki.models.record import DECODER_HIDDEN, FINAL, HIDDEN, POOLED, ROUTING, Record
from niwaki.models.recorded import Recorded

if TYPE_CHECKING:
    from niwaki.models.anatomy import Anatomy

NO_LABEL = -100  # target of a row or token without a label; cross-entropy in torch ignores it by default
Depths = Sequence[Tensor] | Mapping[int, Tensor]  # by depth: all of a student's, those named of a teacher's


@dataclass(frozen=True)
class Batch:
    """`inputs` are the network's arguments; `rows` the places of the examples in the data (several sequences may belong to one)."""

    inputs: dict[str, Tensor]
    targets: Tensor
    rows: Tensor
    predicted: Tensor | None = (
        None  # mask (batch, tokens) of the tokens whose logits are computed, of a decoder its real ones; None: all
    )
    causal: bool | None = None  # whether tokens attend to earlier ones alone; None: as the network's config says
    visible: Tensor | None = (
        None  # (batch, tokens, tokens) which tokens each one attends to; None: all, or as `causal` says
    )
    notes: Mapping[str, Tensor] = field(default_factory=dict)  # what an objective's `batch` leaves for its `loss`

    @property
    def mask(self) -> Tensor:
        return self.inputs["attention_mask"]

    @property
    def generated(self) -> Tensor:
        """Mask of the target tokens (batch, tokens) of a sequence-to-sequence network."""
        return (self.targets >= 0).to(self.mask.dtype)


@dataclass(frozen=True)
class Outputs:
    """What came out. `hidden[0]` is the embedding's output, `hidden[d]` that of the d-th layer run; the rest counts layers from 0."""

    logits: Tensor  # (batch, labels); from heads per token (batch, tokens, labels), or (predicted tokens, labels)
    hidden: Depths = ()  # each (batch, tokens, hidden); without padding through `recorded.py`, as scores
    scores: Depths = ()  # attention before softmax, each (batch, heads, tokens, tokens)
    attention: Depths = ()  # the same after softmax
    queries: Depths = ()  # each (batch, tokens, heads × head size), as keys and values
    keys: Depths = ()
    values: Depths = ()
    pooled: Depths = ()  # one (batch, hidden), what the head reads of each sequence
    final: Depths = ()  # one (batch, tokens, hidden), what the last layer gives
    routing: Depths = ()  # router logits of each layer with experts, each (rows, experts)
    decoder_hidden: Depths = ()  # of a decoder, counted as `hidden`, each (batch, generated tokens, hidden)


def forward(anatomy: "Anatomy", batch: Batch, needs: frozenset[str] = frozenset()) -> Outputs:
    """One batch through one network. `needs` are names of `record.py`: HIDDEN, SCORES, ATTENTION, STATES, DECODER_HIDDEN."""
    record: Record = {name: [] for name in needs}
    logits = run(anatomy, batch.inputs, record, batch.predicted, batch.causal, batch.visible)
    return Outputs(logits, **{name: Recorded(found) for name, found in record.items()})


def run(
    anatomy: "Anatomy",
    inputs: Mapping[str, Tensor],
    record: Record,
    predicted: Tensor | None = None,
    causal: bool | None = None,
    visible: Tensor | None = None,
) -> Tensor:
    """Padded arrays (batch, tokens) by name to logits (batch, labels), or (batch, tokens, labels), computing on real tokens only.
    `predicted`, `causal` and `visible` are those of a batch."""
    if anatomy.decoder is not None:
        return anatomy.decoder.forward(inputs, record, predicted)
    if not anatomy.layers:
        return _run_attention_free(anatomy, inputs, record, predicted)
    hidden, mask, types = embedded(anatomy, inputs)
    count = anatomy.inputs.prompt_tokens
    layout = Packed(mask, anatomy.is_causal if causal is None else causal, in_front(visible, count, True))
    layout.types = types
    return from_embedded(anatomy, hidden, layout, record, in_front(predicted, count, False))


def run_padded(anatomy: "Anatomy", inputs: Mapping[str, Tensor], record: Record | None = None) -> Tensor:
    """The same with padding, as it is exported. A decoder generates as many tokens as it reads: for counting operations."""
    record = {} if record is None else record
    if anatomy.decoder is not None:
        return _generate_greedily(anatomy, inputs)
    if not anatomy.layers:
        return _run_attention_free(anatomy, inputs, record)
    hidden, mask, types = embedded(anatomy, inputs)
    layout = Padded(mask, hidden, causal=anatomy.is_causal)
    layout.types = types
    return from_embedded(anatomy, hidden, layout, record)


def embedded(anatomy: "Anatomy", inputs: Mapping[str, Tensor]) -> tuple[Tensor, Tensor, Tensor | None]:
    """The input stage's output (batch, tokens, hidden), its mask, and token types where attention reads them; with the prompt if there
    is one."""
    inputs = with_prompt(anatomy, split_pairs(inputs) if anatomy.head.splits_pairs else inputs)
    return _first_states(anatomy, inputs), anatomy.inputs.mask(inputs), read_types(anatomy, inputs)


def read_types(anatomy: "Anatomy", inputs: Mapping[str, Tensor]) -> Tensor | None:
    """Token types (batch, tokens), where attention reads them."""
    paths = anatomy.family.layer
    return inputs.get("token_type_ids") if paths is not None and paths.stack.reads_types else None


def _first_states(anatomy: "Anatomy", inputs: Mapping[str, Tensor]) -> Tensor:
    taken, skipped = anatomy.inputs.taken_positions, anatomy.family.inputs.skipped_positions
    return anatomy.inputs.forward(behind_prefix(inputs, taken, skipped))


def from_embedded(
    anatomy: "Anatomy", hidden: Tensor, layout: Layout, record: Record, predicted: Tensor | None = None
) -> Tensor:
    """The input stage's output (batch, tokens, hidden) to logits. The last layer runs for the first token of each sequence
    alone where the head reads no other, unless activations are recorded."""
    head = anatomy.head
    every = head.per_token or head.pools or bool(record.keys() - {ROUTING})
    if head.mixes:
        record = {HIDDEN: [], **record}
    rows, layout = _encode(anatomy, hidden, layout, every, record)
    if head.mixes:
        rows = layout.pack(head.mix(Recorded(record[HIDDEN])))
    if FINAL in record:
        record[FINAL].append(layout.unpack(rows))
    return head_logits(anatomy, rows, layout, every, record, predicted)


def head_logits(
    anatomy: "Anatomy", rows: Tensor, layout: Layout, every: bool, record: Record, predicted: Tensor | None = None
) -> Tensor:
    """The last layer's rows to logits. `every`: they are those of all tokens, else of the first of each sequence."""
    head, count = anatomy.head, anatomy.inputs.prompt_tokens
    if predicted is not None:
        return without_prompt(count, head.forward(layout.pick(rows, predicted)), record, False)
    if head.per_token:
        return without_prompt(count, layout.unpack(head.forward(rows)), record, True)
    if head.pools:
        pooled = head.pool(layout.unpack(rows), layout.mask)[:, None]
    else:
        pooled = layout.by_sequence(layout.first(rows) if every else rows)
    record.get(POOLED, []).append(pooled[:, 0])
    return without_prompt(count, head.forward(pooled), record, False)


def encode_packed(
    anatomy: "Anatomy", inputs: Mapping[str, Tensor], record: Record, finish: Callable[[Tensor], Tensor]
) -> Tensor:
    """What `finish` makes of the last layer's rows, as (batch, tokens, hidden); computed on real tokens only."""
    layout: Layout = Packed(anatomy.inputs.mask(inputs))
    layout.types = read_types(anatomy, inputs)
    rows, layout = _encode(anatomy, anatomy.inputs.forward(inputs), layout, True, record)
    return layout.unpack(finish(rows))


def layer_range(
    anatomy: "Anatomy", hidden: Tensor, inputs: Mapping[str, Tensor], first: int, last: int, every: bool
) -> Tensor:
    """Padded hidden states (batch, tokens, hidden) through the layers from depth `first` to `last`; behind the last one
    of all tokens (`every`), or of the first alone."""
    layers, layout = anatomy.layers, Padded(anatomy.inputs.mask(inputs), hidden)
    layout.types = read_types(anatomy, inputs)
    set_position_bias(anatomy, hidden, layout)
    rows, _ = run_layers([layers[number] for number in anatomy.order[first:last]], hidden, layout, every, {})
    return with_final_norm(anatomy, rows, layout, {}) if last == len(anatomy.order) else rows


def run_layer_range(
    anatomy: "Anatomy", inputs: Mapping[str, Tensor], first: int, last: int
) -> Tensor | tuple[Tensor, Tensor]:
    """The layers from depth `first` to `last` and the head, with padding: token ids, or what the range before left as `hidden_states`, to
    logits and, where layers remain, the hidden states before the last of these layers. For heads that read the first token."""
    inputs = with_prompt(anatomy, inputs)
    hidden = inputs.get("hidden_states")
    hidden = _first_states(anatomy, inputs) if hidden is None else hidden
    left = layer_range(anatomy, hidden, inputs, first, last - 1, every=True)
    logits = anatomy.head.forward(layer_range(anatomy, left, inputs, last - 1, last, every=False))
    return (logits, left) if last < len(anatomy.order) else logits


def run_layers(
    layers: Sequence[Layer], rows: Tensor, layout: Layout, every: bool, record: Record
) -> tuple[Tensor, Layout]:
    """Rows through the layers in turn, and their layout, which is another one where layers shorten texts. Behind the last layer come the
    rows of all tokens (`every`), or of the first token of each sequence."""
    dtype, rows = rows.dtype, in_working_type(layers, rows)
    for number, layer in enumerate(layers):
        _check_records(layer, number, record)
        rows, layout = layer.run(rows, layout, every or number < len(layers) - 1, record)
        if HIDDEN in record:
            record[HIDDEN].append(layout.recorded(rows, dtype))
    return rows, layout


def in_working_type(layers: Sequence[Layer], rows: Tensor) -> Tensor:
    """Rows in the type that autocast multiplies in, so that each product does not cast them anew. With norms first they
    are a sum over all layers, and keep their type."""
    kind = rows.device.type
    if not layers or layers[0].paths.pre_norm or rows.is_meta or not torch.is_autocast_enabled(kind):
        return rows
    return rows.to(torch.get_autocast_dtype(kind))


def real_inputs(anatomy: "Anatomy", path: str, x: Tensor, batch: Batch) -> Tensor:
    """Of what the matrix at a path was given in a batch, the real tokens' (tokens, in); of what is no row of tokens, all."""
    decoder = anatomy.decoder
    real = decoder.real_tokens(path, batch.mask, batch.generated) if decoder is not None else batch.mask
    return x[real.bool()] if x.ndim == 3 and x.shape[:2] == real.shape else x.flatten(0, -2)


def _encode(anatomy: "Anatomy", hidden: Tensor, layout: Layout, every: bool, record: Record) -> tuple[Tensor, Layout]:
    """Padded hidden states (batch, tokens, hidden) through all layers, to rows and their layout."""
    layers, rows = anatomy.layers, layout.pack(hidden)
    if HIDDEN in record:
        record[HIDDEN].append(layout.recorded(rows, hidden.dtype, hidden))
    set_position_bias(anatomy, hidden, layout)
    run = [layers[number] for number in anatomy.order]
    rows, layout = run_layers(run, rows, layout, every, record)
    return with_final_norm(anatomy, rows, layout, record), layout


def with_final_norm(anatomy: "Anatomy", rows: Tensor, layout: Layout, record: Record) -> Tensor:
    """Hidden states as the head reads them; those are recorded in place of the last layer's."""
    path = final_norm(anatomy.family)
    if not path:
        return rows
    rows = normed(rows, anatomy.network.get_submodule(path))
    if HIDDEN in record:
        record[HIDDEN][-1] = layout.recorded(rows, rows.dtype)
    return rows


def _check_records(layer: Layer, number: int, record: Record) -> None:
    mixer, reduction = layer.mixer, reduction_of(layer)
    if reduction is not None and record.keys() - {FINAL, POOLED, ROUTING}:
        raise InputError(
            f"layer {number} shortens texts ('{reduction.label()}'), so activations of tokens cannot be compared; leave out the method that compares them"
        )
    for name in record.keys() - {HIDDEN, FINAL, DECODER_HIDDEN, POOLED, ROUTING, *mixer.records}:
        raise InputError(
            f"layer {number}: mixer '{mixer.label()}' has no {name}; leave out the method that compares them"
        )


def _run_attention_free(
    anatomy: "Anatomy", inputs: Mapping[str, Tensor], record: Record, predicted: Tensor | None = None
) -> Tensor:
    """A network of `models/networks` without layers runs itself."""
    ids, mask, network = inputs["input_ids"], inputs["attention_mask"], anatomy.network
    states = network.states(ids, mask)
    record.get(HIDDEN, []).extend(states)
    head = anatomy.head
    if not head.mixes:
        return network.answer(states[-1], ids, mask, predicted)
    mixed = head.mix(states)
    return head.forward(mixed if head.per_token else head.pool(mixed, mask)[:, None])


def _generate_greedily(anatomy: "Anatomy", inputs: Mapping[str, Tensor]) -> Tensor:
    """As many tokens as are read, or as can be generated: the log-probabilities of the last one (batch, vocabulary)."""
    decoder, mask = anatomy.decoder, anatomy.inputs.mask(inputs)
    assert decoder is not None
    memory = decoder.encode(inputs)
    past, last = decoder.empty_past(len(mask), memory[0][0]), torch.full((len(mask), 1), START)
    for place in range(min(mask.shape[1], decoder.max_tokens)):
        logits, past = decoder.decode_step(last, torch.tensor(place), mask, memory, past)
        last = logits.argmax(dim=-1)
    return logits[:, 0]
