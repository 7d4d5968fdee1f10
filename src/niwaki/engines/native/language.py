"""A language model, ready to run: a decoder that stands alone, and the texts that it has read so far."""

import ctypes
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from niwaki.core.errors import InputError
from niwaki.engines.native import library as c
from niwaki.engines.native.decoder_program import LanguageParts, LanguageProgram
from niwaki.engines.native.generator import decoder_struct, products
from niwaki.engines.native.layout import Layout
from niwaki.engines.native.network import MAX_THREADS, THREAD_PRODUCTS, KernelUser
from niwaki.engines.native.stores import Tensors

READ_ROWS = 256  # tokens of a step: enough that weights are read rarely


class Node(NamedTuple):
    """A token that was read: its step, and its row there."""

    step: int
    row: int


BEFORE = Node(-1, -1)  # the first token of a text


class LanguageNetwork(KernelUser):
    """Logits of the next token. They do not depend on other texts, on threads, or on whether a text is read at once or token by token."""

    per_token = True

    def __init__(self, program: LanguageProgram, tensors: Tensors, where: str, kernels: str | None = None) -> None:
        super().__init__(kernels)
        parts = LanguageParts(program, tensors, where)
        self.sizes = parts.sizes
        layout = Layout(self.kernels, parts)
        self.decoder = decoder_struct(layout, parts.decoder, self.sizes.longest)
        self.step_products, self._pinned = products(parts, parts.decoder), layout.pinned

    def __call__(self, ids: np.ndarray, lengths: np.ndarray, threads: int = 1) -> np.ndarray:
        """Tokens of all texts, concatenated, to logits behind each token, (tokens, vocabulary)."""
        logits, end = np.empty((len(ids), self.sizes.vocabulary), dtype=np.float32), 0
        for length in lengths.tolist():  # one by one, so that only one text's keys and values are there
            start, end = end, end + length
            Reader(self, threads).read_all(ids[start:end].tolist(), logits[start:end])
        return logits


class Reader:
    """Reads texts token by token, by one thread at a time. What it has read is a tree of tokens, so a beginning that several texts share is
    read once."""

    def __init__(self, network: LanguageNetwork, threads: int = 1) -> None:
        self.network, self.threads = network, threads
        self._children: dict[tuple[Node, int], Node] = {}
        self._memory: list[np.ndarray] = []  # keys and values of each step
        self._steps = (c.Step * 16)()
        self._rows: list[tuple[int, int, int, int]] = []  # of the next step: tokens, parents, their steps, places
        self._wanted: list[tuple[int, int]] = []  # its rows whose logits are wanted, and the number of each

    def next_logits(self, texts: Sequence[Sequence[int]]) -> np.ndarray:
        """Logits behind each text, (texts, vocabulary). Only what is new is read."""
        logits = np.empty((len(texts), self.network.sizes.vocabulary), dtype=np.float32)
        for number, text in enumerate(texts):
            self._check(text)
            node = BEFORE
            for place, token in enumerate(text[:-1]):
                node = self._children.get((node, token)) or self._add(node, token, place, None, logits)
            self._add(node, text[-1], len(text) - 1, number, logits)
        self._read(logits)
        return logits

    def read_all(self, text: Sequence[int], logits: np.ndarray) -> None:
        """Logits behind each token of a text, (tokens, vocabulary)."""
        self._check(text)
        node = BEFORE
        for place, token in enumerate(text):
            node = self._add(node, token, place, place, logits)
        self._read(logits)

    def _check(self, text: Sequence[int]) -> None:
        """Rejects texts that would make the kernels read outside of the tensors."""
        sizes = self.network.sizes
        if not len(text) or min(text) < 0 or max(text) >= sizes.vocabulary:
            raise InputError(f"a token id is not below the {sizes.vocabulary} of the vocabulary, or a text is empty")
        if len(text) > sizes.longest:
            raise InputError(f"a text has {len(text)} tokens, and the model reads at most {sizes.longest}")

    def _add(self, parent: Node, token: int, place: int, number: int | None, logits: np.ndarray) -> Node:
        """A row of the next step, which is read when it is full."""
        if len(self._rows) == READ_ROWS:
            self._read(logits)
        node = Node(len(self._memory), len(self._rows))
        self._rows.append((token, parent.row, parent.step, place))
        self._children[parent, token] = node
        if number is not None:
            self._wanted.append((node.row, number))
        return node

    def _read(self, logits: np.ndarray) -> None:
        """Reads the rows of the next step and writes the wanted logits."""
        if not self._rows:
            return
        network, kernels = self.network, self.network.kernels
        rows = np.ascontiguousarray(np.array(self._rows, dtype=np.int32).T)
        wanted = np.array(self._wanted, dtype=np.int32).reshape(-1, 2)
        which = np.ascontiguousarray(wanted[:, 0])
        found = np.empty((len(wanted), network.sizes.vocabulary), dtype=np.float32)
        number, count = len(self._memory), rows.shape[1]
        self._memory.append(self.memory(kernels.reading_floats(network.decoder, count)))
        self._note_step(number, count)
        reading = c.Reading(
            number,
            count,
            len(wanted),
            int(rows[3].max()) + 1,
            *(row.ctypes.data for row in rows),
            which.ctypes.data,
            self._steps,
            found.ctypes.data,
        )
        threads = max(1, min(self.threads, MAX_THREADS, count * network.step_products // THREAD_PRODUCTS))
        scratch = network.scratch(kernels.reading_bytes(network.decoder, reading, threads))
        kernels.read(network.decoder, reading, threads, scratch.ctypes.data)
        logits[wanted[:, 1]] = found
        self._rows, self._wanted = [], []

    def _note_step(self, number: int, rows: int) -> None:
        if number == len(self._steps):
            longer = (c.Step * (2 * number))()
            ctypes.memmove(longer, self._steps, ctypes.sizeof(self._steps))
            self._steps = longer
        self._steps[number].start, self._steps[number].rows = self._memory[number].ctypes.data, rows

    def memory(self, floats: int) -> np.ndarray:
        """Memory for keys and values. Kernels must not depend on its content: tests override this."""
        return c.aligned(floats, np.float32)
