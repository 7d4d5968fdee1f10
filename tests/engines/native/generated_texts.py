"""Random programs that generate texts, and the same in plain torch: a decoder in float64 that reads each hypothesis anew at every step,
under the search of `answers/_beam_search.py`."""

import math
from typing import Any

import numpy as np
import torch

from engines.native.contract import GUARD, Filled
from engines.native.reference import Reference, kept, turned
from engines.native.shapes import Drawn, Text
from niwaki.answers._beam_search import SearchSettings, beam_search
from niwaki.answers._forced_decoding import log_likelihoods
from niwaki.engines.native import decoder_program as d
from niwaki.engines.native import program as p
from niwaki.engines.native.generator import Generator
from niwaki.engines.native.program_parts import Parts

TEXTS, LONGEST, TOKENS = 5, 12, 1300  # tokens: more than two chunks of vocabulary.h


class DrawnTexts(Drawn):
    """One program with a decoder, its tensors, texts, and how they are searched for."""

    def __init__(self, seed: int, precision: str = "") -> None:
        super().__init__(seed, precision)
        self.tokens, self.positions = self.size(8, TOKENS), LONGEST
        encoder = dict(self.program) | {
            "head": [],
            "per_token": True,
            "pooling": "cls",
            "unit_length": False,
            "answered": None,
        }
        if self.chance(0.5):
            encoder |= {"embedded": None, "token_scale": 1.5, "project": None} if not self.program.project else {}
        self.program = d.TextProgram(**encoder, decoder=self._decoder(self.width))
        self.texts = self.texts[:TEXTS]
        self.search = self._search()

    def _decoder(self, read: int) -> d.Decoder:
        width = self.size(8, 90)
        skipped = int(self.draw.integers(0, 3))
        narrow = self.size(4, width) if self.chance(0.3) else 0
        pre_norm, placed = self.chance(0.4), self.chance(0.7)
        self.distances = self._distances() if self.chance(0.3) else None
        table = self.store(self.tokens, narrow or width, 1.0)
        # texts of a few tokens: the end is made likely
        bias = self.tensor(self.tokens, spread=1.0)
        self.tensors[bias][1] += 3.0
        output = table if not narrow and self.chance(0.5) else self.store(self.tokens, width, 2 / np.sqrt(width))
        return d.Decoder(
            tokens=table,
            widen=self.linear(width, narrow) if narrow else None,
            token_scale=float(self.draw.choice([1.0, 2.5])),
            positions=self.store(self.positions + skipped, width, 0.5) if placed else None,
            skipped_positions=skipped if placed else 0,
            longest=self.positions,
            pre_norm=pre_norm,
            last=self.norm(width) if pre_norm else None,
            output_scale=0.6 if pre_norm and self.chance(0.4) else None,
            embedded=self.norm(width) if self.chance(0.6) else None,
            layers=[self._decoder_layer(width, read, pre_norm) for _ in range(self.draw.integers(1, 4))],
            output=[p.Matrix(weight=output, bias=bias)],
        )

    def _distances(self) -> p.Relative:
        """Fewer than a text may have."""
        return p.Relative(table=self.tensor(9, 16), rows=[int(row) for row in self.draw.integers(0, 9, 11)], heads=[0])

    def _block(self, width: int, read: int, own: bool) -> d.AttentionBlock:
        if self.chance(0.15):
            bias = self.tensor(width, spread=0.3) if self.chance(0.5) else None
            return d.AttentionBlock(bias=bias, norm=self.norm(width))
        heads, head_size = self.size(1, 8), self.size(1, 40) if self.chance(0.7) else 32
        inner, relative = heads * head_size, None
        if own and self.distances:
            chosen = [int(head) for head in self.draw.integers(0, 16, heads)]
            relative = self.distances.model_copy(update={"heads": chosen})
        attention = p.Attention(
            heads=heads,
            head_size=head_size,
            relative=relative,
            rotary=self._rotary(head_size) if own and head_size % 2 == 0 and self.chance(0.3) else None,
            scale=0.3 if self.chance(0.2) else None,
            query=self.linear(inner, width),
            key=self.linear(inner, read),
            value=self.linear(inner, read),
            out=self.linear(width, inner),
        )
        return d.AttentionBlock(attention=attention, norm=self.norm(width))

    def _decoder_layer(self, width: int, read: int, pre_norm: bool) -> d.DecoderLayer:
        neurons = self.size(1, 100)
        ffn = p.Ffn(
            up=self.linear(neurons, width),
            activation=self.activation(),
            down=self.linear(width, neurons),
            gate=self.linear(neurons, width) if pre_norm and self.chance(0.4) else None,
        )
        there = self.chance(0.85)
        return d.DecoderLayer(
            own=self._block(width, width, True),
            cross=self._block(width, read, False),
            ffn=ffn if there else None,
            ffn_bias=None if there else self.tensor(width, spread=0.3),
            ffn_norm=self.norm(width),
        )

    def _search(self) -> SearchSettings:
        others = [int(one) for one in self.draw.permutation(np.arange(2, self.tokens))[:4]]
        return SearchSettings(
            beam=int(self.draw.choice([1, 1, 2, 3, 6])),
            length_penalty=float(self.draw.choice([0.0, 0.6, 1.0, 2.0])),
            max_new_tokens=int(self.draw.integers(1, LONGEST + 1)),
            start=0,
            end=1,
            suppress_tokens=tuple([0, *others[:2]] if self.chance(0.7) else []),
            renormalize=self.chance(0.5),
            first=others[3] if self.chance(0.3) else None,
        )

    def targets(self) -> np.ndarray:
        """A target of each text; one of them is empty."""
        found = self.draw.integers(0, self.tokens, (len(self.texts), LONGEST))
        lengths = [0, *self.draw.integers(1, LONGEST + 1, len(self.texts) - 1)]
        return np.where(np.arange(LONGEST)[None] < np.array(lengths)[:, None], found, -1)


class TextReference(Reference):
    """What a program with a decoder finds for texts, or how likely it takes targets to be."""

    def found(self, texts: list[Text], how: SearchSettings) -> np.ndarray:
        return beam_search(Steps(self, texts, how.beam), len(texts), how)

    def scores(self, texts: list[Text], targets: np.ndarray, how: SearchSettings) -> np.ndarray:
        return log_likelihoods(Steps(self, texts, 1), targets, how.start)

    def read(self, text: Text) -> torch.Tensor:
        rows = self.embed(*text)
        for number in self.program.order:
            rows = self.layer(self.program.layers[number], rows)
        return self.norm(self.program.last, rows)

    def log_probs(self, ids: np.ndarray, read: torch.Tensor) -> np.ndarray:
        """Hypotheses (rows, tokens) to log-probabilities of the next token (rows, vocabulary)."""
        decoder: d.Decoder = self.program.decoder  # type: ignore[attr-defined]
        rows = self.matrix(decoder.tokens)[torch.from_numpy(ids)] * decoder.token_scale
        rows = self.linear(decoder.widen, rows) if decoder.widen else rows
        if decoder.positions:
            rows = rows + self.matrix(decoder.positions)[decoder.skipped_positions :][: ids.shape[1]]
        rows = self.norm(decoder.embedded, rows)
        before, behind = (self.norm, kept) if decoder.pre_norm else (kept, self.norm)
        for layer in decoder.layers:
            for block, others in ((layer.own, None), (layer.cross, read)):
                rows = behind(block.norm, rows + self.mixed(block, before(block.norm, rows), others))
            normed = before(layer.ffn_norm, rows)
            inner = self.feed_forward(layer.ffn, normed) if layer.ffn else self.row(layer.ffn_bias)
            rows = behind(layer.ffn_norm, rows + inner)
        rows = self.norm(decoder.last, rows) * (decoder.output_scale or 1.0)
        return self.linear(decoder.output, rows[:, -1]).log_softmax(-1).float().numpy()

    def mixed(self, block: d.AttentionBlock, rows: torch.Tensor, read: torch.Tensor | None) -> torch.Tensor:
        of = block.attention
        if of is None:
            return self.row(block.bias)
        source = rows if read is None else read[None]
        query, key, value = (
            self.linear(linear, x).unflatten(-1, (of.heads, of.head_size)).transpose(1, 2)
            for linear, x in ((of.query, rows), (of.key, source), (of.value, source))
        )  # (rows, heads, tokens, head size)
        if of.rotary:
            query, key = (
                turned(of.rotary, states.flatten(0, 1)).unflatten(0, states.shape[:2]) for states in (query, key)
            )
        scores = query @ key.transpose(2, 3) * (of.scale or 1 / math.sqrt(of.head_size))
        if of.relative:
            table = torch.from_numpy(Parts.relative(self, of.relative)).double()  # type: ignore[arg-type]
            place = torch.arange(rows.shape[1])
            middle = table.shape[1] // 2
            scores = scores + table[:, (place[None] - place[:, None]).clamp(-middle, middle) + middle]
        if read is None:
            scores = scores + torch.full(scores.shape[-2:], -math.inf).triu(1)
        return self.linear(of.out, (scores.softmax(-1) @ value).transpose(1, 2).flatten(2))


class Steps:
    def __init__(self, reference: TextReference, texts: list[Text], beam: int) -> None:
        self.reference, self.read = reference, [reference.read(text) for text in texts]
        self.before = np.zeros((len(texts), beam, 0), dtype=np.int64)

    def __call__(self, tokens: np.ndarray, parents: np.ndarray, texts: np.ndarray) -> np.ndarray:
        self.read = [self.read[text] for text in texts]
        before = np.take_along_axis(self.before[texts], parents[:, :, None], axis=1)
        self.before = np.concatenate([before, tokens[:, :, None]], axis=2)
        return np.stack([self.reference.log_probs(*pair) for pair in zip(self.before, self.read, strict=True)])


class FilledGenerator(Filled, Generator):
    """With scratch memory and blocks that are filled before use, and checked behind their ends; a block holds one step, so that
    calls go on after each."""

    block_floats = 1

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.step_products = 1 << 40  # so that all threads are used

    def block(self, floats: int) -> np.ndarray:
        found = super().block(floats + 16)
        if self.fill is not None:
            found.view(np.uint32)[:] = self.fill
        found[floats:].view(np.uint8)[:] = GUARD
        self.blocks.append(found[floats:])
        return found[:floats]

    def _call(self, *given: Any) -> None:
        self.blocks: list[np.ndarray] = []
        super()._call(*given)
        guards = [self._local.guard, *(block.view(np.uint8) for block in self.blocks)]
        self.overrun |= any(bool((guard != GUARD).any()) for guard in guards)


def generator(drawn: DrawnTexts, kernels: str) -> FilledGenerator:
    return FilledGenerator(drawn.program, drawn.tensors, "here", kernels)


def joined(texts: list[Text]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    ids, types = (np.concatenate(part) for part in zip(*texts, strict=True))
    return ids, types, np.array([len(one) for one, _ in texts])
