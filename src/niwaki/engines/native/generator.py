"""A network that generates text, ready to run: its encoder as any other, its decoder and the search in one call."""

from collections.abc import Callable
from typing import cast

import numpy as np

from niwaki.answers._beam_search import SearchSettings
from niwaki.core.errors import InputError
from niwaki.engines.native import library as c
from niwaki.engines.native import program as p
from niwaki.engines.native.decoder_program import (
    AttentionBlock,
    Decoder,
    DecoderLayer,
    TextProgram,
    check_decoder,
)
from niwaki.engines.native.layout import Layout
from niwaki.engines.native.network import MAX_THREADS, THREAD_PRODUCTS, Network
from niwaki.engines.native.program_parts import Parts

REUSED_BLOCKS = 4  # of a thread, in its next call


class Generator(Network):
    """`found` is as `answers/_beam_search.py` gives it: (texts, 1 + max_new_tokens)."""

    block_floats = 1 << 22  # of memory for keys and values: 16 MB, of which the system provides what is used

    def lay_out(self, layout: Layout, program: p.Program) -> None:
        super().lay_out(layout, program)
        assert isinstance(program, TextProgram)
        self.decoder_sizes = check_decoder(layout.parts, program.decoder)
        self._decoder = decoder_struct(layout, program.decoder, self.decoder_sizes.longest)
        self.step_products = products(layout.parts, program.decoder)

    def generate(
        self, ids: np.ndarray, types: np.ndarray, lengths: np.ndarray, how: SearchSettings, threads: int = 1
    ) -> np.ndarray:
        """The best text found for each, of at most as many tokens as the decoder has positions."""
        longest = min(how.max_new_tokens, self.decoder_sizes.longest)
        found = np.full((len(lengths), 1 + longest), -1, dtype=np.float32)
        self._run(ids, types, lengths, how, threads, longest, found, None)
        return np.pad(found, ((0, 0), (0, how.max_new_tokens - longest)), constant_values=-1)

    def score(
        self,
        ids: np.ndarray,
        types: np.ndarray,
        lengths: np.ndarray,
        targets: np.ndarray,
        how: SearchSettings,
        threads: int = 1,
    ) -> np.ndarray:
        """Generated tokens (texts, tokens), -1 behind their ends, to the logarithm of how likely each text is, (texts, 1)."""
        targets = np.ascontiguousarray(targets, dtype=np.int32)
        if targets.size and (targets.min() < -1 or targets.max() >= self.decoder_sizes.vocabulary):
            raise InputError(f"a target token is not below the {self.decoder_sizes.vocabulary} of the vocabulary")
        if targets.shape[1] > self.decoder_sizes.longest:
            raise InputError(
                f"a target has {targets.shape[1]} tokens, and the model generates at most {self.decoder_sizes.longest}"
            )
        found = np.zeros((len(lengths), 1), dtype=np.float32)
        if targets.shape[1]:
            self._run(ids, types, lengths, how, threads, targets.shape[1], found, targets)
        return found

    def _run(
        self,
        ids: np.ndarray,
        types: np.ndarray,
        lengths: np.ndarray,
        how: SearchSettings,
        threads: int,
        longest: int,
        found: np.ndarray,
        targets: np.ndarray | None,
    ) -> None:
        if not len(lengths):
            return
        self._check_search(how)
        hidden = self(ids, types, lengths, threads)
        lengths = np.ascontiguousarray(lengths, dtype=np.int32)
        suppress = np.array(how.suppress_tokens, dtype=np.int32)
        search = c.Search(
            how.beam,
            how.start,
            how.end,
            -1 if how.first is None else how.first,
            len(suppress),
            how.renormalize,
            how.length_penalty,
            suppress.ctypes.data,
        )
        state = c.Generation(
            len(lengths),
            len(hidden),
            longest,
            lengths.ctypes.data,
            hidden.ctypes.data,
            None if targets is None else targets.ctypes.data,
            found.ctypes.data,
        )
        rows = len(lengths) * how.beam
        threads = max(1, min(threads, MAX_THREADS, rows * self.step_products // THREAD_PRODUCTS))
        self._call(search, state, threads)

    def _call(self, search: c.Search, state: c.Generation, threads: int) -> None:
        """Calls the search until it needs no further block."""
        scratch = self.scratch(self.kernels.generation_bytes(self._decoder, search, state, threads))
        state.block_floats = max(self.block_floats, self.kernels.block_floats(self._decoder, search, state))
        blocks = [block for block in getattr(self._local, "blocks", []) if len(block) == state.block_floats]
        while True:
            addresses = np.array([block.ctypes.data for block in blocks], dtype=np.uintp)
            state.blocks, state.memory = len(blocks), addresses.ctypes.data
            if not self.kernels.generate(self._decoder, search, state, threads, scratch.ctypes.data):
                break
            blocks.append(self.block(state.block_floats))
        self._local.blocks = blocks[:REUSED_BLOCKS]

    def block(self, floats: int) -> np.ndarray:
        """Memory for keys and values. Kernels must not depend on its content: tests override this."""
        return c.aligned(floats, np.float32)

    def _check_search(self, how: SearchSettings) -> None:
        """Rejects settings with which the kernels would read outside of the tensors."""
        first = () if how.first is None else (how.first,)
        named = [how.start, how.end, *how.suppress_tokens, *first]
        if min(named) < 0 or max(named) >= self.decoder_sizes.vocabulary:
            raise InputError(
                f"the search names a token that is not below the {self.decoder_sizes.vocabulary} generated"
            )
        if how.grammar is not None:
            raise InputError("native engine: it generates without a grammar; use onnx")
        if how.beam < 1 or how.max_new_tokens < 1:
            raise InputError("beam and max_new_tokens must be 1 or more")


def products(parts: Parts, decoder: Decoder) -> int:
    """Multiplications for one generated token."""
    found = list(decoder.output)
    for layer in decoder.layers:
        for block in (layer.own, layer.cross):
            if block and block.attention:
                found += [*block.attention.query, *block.attention.out]
        found += [*layer.ffn.up, *(layer.ffn.gate or []), *layer.ffn.down] if layer.ffn else []
    return sum(parts.store(matrix.weight)[0].size for matrix in found)


def decoder_struct(layout: Layout, decoder: Decoder, longest: int) -> c.Decoder:
    width = layout.parts.row(decoder.layers[0].ffn_norm.gain).size
    layers = len(decoder.layers)
    pin = cast("Callable[[object], object]", layout.pin)
    layout.longest = longest
    return c.Decoder(
        tokens=layout.table(decoder.tokens, decoder.token_scale),
        positions=layout.table(decoder.positions, skipped=decoder.skipped_positions),
        widen=layout.linear(decoder.widen),
        embedded=layout.norm(decoder.embedded, width),
        last=layout.norm(decoder.last, factor=decoder.output_scale or 1.0),
        width=width,
        depth=layers,
        pre_norm=decoder.pre_norm,
        own=pin((c.Layer * layers)(*(own_struct(layout, layer.own) for layer in decoder.layers))),
        cross=pin((c.Layer * layers)(*(cross_struct(layout, layer) for layer in decoder.layers))),
        output=layout.linear(decoder.output),
    )


def own_struct(layout: Layout, block: AttentionBlock) -> c.Layer:
    struct = c.Layer(attended=layout.norm(block.norm))
    struct.attention_bias = layout.bias(block.bias)
    layout.set_attention(struct, block.attention)
    return struct


def cross_struct(layout: Layout, layer: DecoderLayer) -> c.Layer:
    struct = c.Layer() if layer.cross is None else own_struct(layout, layer.cross)
    struct.widened, struct.ffn_bias = layout.norm(layer.ffn_norm), layout.bias(layer.ffn_bias)
    layout.set_ffn(struct, layer.ffn)
    return struct
