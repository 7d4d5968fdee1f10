"""The program of the native engine: which tensors of the weights file are which part of an encoder.

It is plain data, saved as `native.json` next to the weights, like the graph for ONNX Runtime. A program may come from an untrusted
source, and the kernels check nothing: `program_parts.py` checks everything against the tensors.

Settings that not all programs need are None and not written, so older versions read programs without them.
"""

from typing import Annotated, Literal

from pydantic import Field

from niwaki.core.settings import Settings
from niwaki.engines.native.library import MAX_FACTORS
from niwaki.engines.native.stores import MOST_WIDTH, Store

MOST_LAYERS = 512
MOST_POSITIONS = 1 << 16
MOST_EXPERTS = 1024
MOST_APART, MOST_FIRSTS = 1024, 1024  # of windows

Activation = Literal["none", "gelu", "gelu_tanh", "relu", "tanh", "silu"]


class Matrix(Settings):
    """(outputs, inputs)."""

    weight: Store
    bias: str | None = None


Linear = Annotated[list[Matrix], Field(min_length=1, max_length=MAX_FACTORS)]  # factors, applied in this order


class Norm(Settings):
    gain: str
    shift: str | None = None  # without one, rows are divided by their root mean square (RMSNorm),
    centers: bool | None = None  # unless this says that their mean becomes 0 first
    epsilon: float = Field(gt=0.0, lt=1.0)


class Relative(Settings):
    """Relative position bias: for each distance from query to key, the most negative first, the row of a table (rows, all heads) that is
    added to the attention scores, and which of its heads the layer has. Further distances have the first row and the last."""

    table: str
    rows: Annotated[list[int], Field(min_length=1, max_length=2 * MOST_POSITIONS)]
    heads: Annotated[list[int], Field(min_length=1, max_length=MOST_WIDTH)]


class Rotary(Settings):
    """Queries and keys are turned by angles that grow with their positions: the second half of a head's numbers with the first, or
    neighbours with each other."""

    frequencies: Annotated[list[float], Field(min_length=1, max_length=MOST_WIDTH)]  # angles per position
    neighbours: bool | None = None


class Window(Settings):
    """A token attends to the tokens around it and to the first tokens of the text, which attend to all."""

    tokens: int = Field(ge=0, le=MOST_POSITIONS)  # on each side
    dilation: int = Field(1, ge=1, le=MOST_APART)  # 2: every second token
    first_tokens: int = Field(0, ge=0, le=MOST_FIRSTS)


class Attention(Settings):
    heads: int = Field(ge=1, le=MOST_WIDTH)
    head_size: int = Field(ge=1, le=MOST_WIDTH)
    query: Linear
    key: Linear
    value: Linear
    out: Linear
    relative: Relative | None = None
    scale: float | None = Field(None, gt=0.0, le=MOST_WIDTH)  # of scores; None: one by the root of the head size
    key_heads: Annotated[list[int], Field(min_length=1, max_length=MOST_WIDTH)] | None = (
        None  # which key each head reads
    )
    rotary: Rotary | None = None
    window: Window | None = None


class Ffn(Settings):
    up: Linear
    activation: Activation
    down: Linear
    gate: Linear | None = None  # its activated outputs are multiplied with those of `up`


class Expert(Settings):
    up: Linear
    down: Linear


class Experts(Settings):
    """A mixture of experts. A token goes through the `active` experts with the largest logits of the router, and the shared one; outputs are added
    up, or averaged by the router's probabilities."""

    router: Linear
    experts: Annotated[list[Expert], Field(min_length=1, max_length=MOST_EXPERTS)]
    active: int = Field(ge=1, le=MOST_EXPERTS)
    averages: bool = False
    shared: Expert | None = None
    activation: Activation


class Layer(Settings):
    """A removed attention or feed-forward block leaves at most a bias."""

    attention: Attention | None = None
    attention_bias: str | None = None
    attended: Norm | None = None  # only where norms come first, some of which a family leaves out
    ffn: Ffn | None = None
    experts: Experts | None = None  # in its place
    ffn_bias: str | None = None
    widened: Norm | None = None


class Inputs(Settings):
    """What makes the first rows of tokens."""

    tokens: Store  # (vocabulary, hidden size)
    widen: Linear | None = None  # from factorized token embeddings to the size of the other embeddings
    token_scale: float | None = Field(None, gt=0.0, le=MOST_WIDTH)  # vectors of tokens are multiplied by it
    positions: Store | None = None
    longest: int | None = Field(None, ge=1, le=MOST_POSITIONS)  # the maximum number of tokens
    skipped_positions: int | None = Field(None, ge=0, le=MOST_POSITIONS)  # rows of that table before the first token's
    first_position: int = Field(ge=0, le=MOST_POSITIONS)
    types: Store | None = None
    reads_types: bool = False  # otherwise every token has the first type
    embedded: Norm | None = None
    project: Linear | None = None  # from the size of the embeddings to that of the layers


class Program(Inputs):
    """An encoder, with a head on the first token, on pooled tokens, or on every token. Norms stand behind blocks, or before them and behind
    the last layer."""

    version: Literal[2] = 2  # version 1 had no digests (program_file.py)
    layers: Annotated[list[Layer], Field(min_length=1, max_length=MOST_LAYERS)]
    order: Annotated[list[int], Field(min_length=1, max_length=MOST_LAYERS)]  # which layer runs at each depth
    pre_norm: bool | None = None
    last: Norm | None = None
    causal: bool | None = None  # tokens attend to earlier ones alone
    head: Annotated[list[Linear], Field(min_length=1, max_length=4)]
    head_activation: Activation = "none"  # between the matrices of the head
    answered: Norm | None = None  # before the last of these
    per_token: bool = False
    pooling: Literal["cls", "mean", "max", "mean_sqrt_len_tokens", "last"] = "cls"  # what the head reads of each text
    unit_length: bool = False  # whether that is scaled to length 1
