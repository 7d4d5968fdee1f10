"""Writes packed files: an encoder in the layout of the kernels, with its tokenizer, for the C interface (c/niwaki.h) and `packed.py`.

Opening one is a memory map: no tensor is read, checked or copied, and processes share the pages. The price is that a file fits one kind
of processor only. All pointers are stored as offsets; a list says where they are (c/packed.h).
"""

import ctypes
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from tokenizers import Tokenizer

from niwaki.answers._answer_type import with_truncation
from niwaki.core.errors import InputError, UsageError
from niwaki.core.files import write_bytes
from niwaki.core.json_types import Json
from niwaki.engines.native import library as c
from niwaki.engines.native.layout import Layout
from niwaki.engines.native.program import Program
from niwaki.engines.native.program_file import PROGRAM, read_program
from niwaki.engines.native.program_parts import Parts
from niwaki.engines.native.wordpiece import Wordpiece

MAGIC, ALIGNMENT, HEADER_BYTES = b"niwaki\n\2", 64, 128
ANSWERS = ("numbers", "one label", "several labels")  # as in niwaki.h


class Processor(NamedTuple):
    """What decides a packed file: numbers in a vector of the kernels, and bytes of a pointer."""

    lanes: int
    pointer_bytes: int


PROCESSORS = {
    "avx512": Processor(16, 8),  # also amx
    "avx2": Processor(8, 8),  # also avx_vnni
    "arm": Processor(4, 8),
    "wasm": Processor(4, 4),
    "any": Processor(1, 8),  # plain C
}


class Contents(NamedTuple):
    """What a file has besides the network."""

    labels: list[str]
    answer: str  # one of ANSWERS
    max_tokens: int
    tokenizer: Tokenizer | None


def processor_here() -> str:
    """The kind of this machine's processor."""
    kernels = c.kernels(c.best() or "plain")
    lanes = kernels.lanes if kernels else 1
    return next(name for name, processor in PROCESSORS.items() if processor.lanes == lanes)


class PortableLayout(Layout):
    """The layout of kernels that this machine need not run."""

    def __init__(self, lanes: int, parts: Parts) -> None:
        super().__init__(None, parts)
        self.lanes = lanes

    def packed(self, weight: np.ndarray, whole: bool) -> np.ndarray:
        outputs, inputs = weight.shape
        wide = c.padded(inputs) if whole else inputs
        found = np.zeros((c.padded(outputs), wide), dtype=np.int8 if whole else np.float32)
        found[:outputs, :inputs] = weight
        deep = 4 if whole else 1  # inputs of one output that lie side by side
        panels = found.reshape(-1, self.lanes, wide // deep, deep).transpose(0, 2, 1, 3)
        return np.ascontiguousarray(panels).reshape(-1).view(np.uint8)


class Image:
    """The bytes of a file, and where its pointers are. Structures are laid out as C does for pointers of `pointer_bytes` bytes."""

    def __init__(self, pointer_bytes: int, pinned: list[object]) -> None:
        self.pointer_bytes = pointer_bytes
        self.data = bytearray(HEADER_BYTES)
        self.pointers: list[int] = []
        self._placed: dict[int, int] = {}  # address in memory → offset in the file
        self._pinned = {address_of(one): one for one in pinned if size_of(one)}
        for address, one in self._pinned.items():  # structures come last, so that pages with pointers are few
            if not isinstance(one, ctypes.Array | ctypes.Structure):
                self._placed[address] = self.add(bytes(memoryview(one).cast("B")))  # type: ignore[arg-type]

    def add(self, data: bytes) -> int:
        self.data += bytes(-len(self.data) % ALIGNMENT)
        offset = len(self.data)
        self.data += data
        return offset

    def add_structure(self, structure: ctypes.Structure | ctypes.Array[ctypes.Structure]) -> int:
        """A structure, behind those that it points to; returns its offset."""
        found, pointers = bytearray(), list[int]()
        self._append(found, structure, pointers)
        offset = self.add(bytes(found))
        self.pointers += [offset + place for place in pointers]
        return offset

    def _append(self, to: bytearray, value: object, pointers: list[int]) -> None:
        to += bytes(-len(to) % self._alignment(type(value)))
        if isinstance(value, ctypes.Array):
            for one in value:
                kind: type = value._type_
                self._append(to, one if isinstance(one, ctypes.Structure) else kind(one), pointers)
        elif isinstance(value, ctypes.Structure):
            for name, field in structure_fields(type(value)):
                held = getattr(value, name)
                self._append(to, held if isinstance(held, field) else field(held), pointers)
            to += bytes(-len(to) % self._alignment(type(value)))
        elif is_pointer(type(value)):
            address = ctypes.cast(value, ctypes.c_void_p).value or 0  # type: ignore[arg-type]
            offset = self._offset(address)
            pointers += [len(to)] if offset else []
            to += offset.to_bytes(self.pointer_bytes, "little")
        else:
            to += bytes(value)  # type: ignore[call-overload]

    def _offset(self, address: int) -> int:
        if address and address not in self._placed and address in self._pinned:
            self._placed[address] = self.add_structure(self._pinned[address])  # type: ignore[arg-type]
        return self._placed.get(address, 0)

    def _alignment(self, kind: type) -> int:
        if is_pointer(kind):
            return self.pointer_bytes
        if issubclass(kind, ctypes.Array):
            held: type = kind._type_  # type: ignore[assignment]
            return self._alignment(held)
        if issubclass(kind, ctypes.Structure):
            return max(self._alignment(one) for _, one in structure_fields(kind))
        return ctypes.alignment(kind)  # type: ignore[arg-type]


def structure_fields(kind: type[ctypes.Structure]) -> list[tuple[str, type]]:
    return [(name, held) for name, held in kind._fields_]  # type: ignore[misc]


def is_pointer(kind: type) -> bool:
    return kind is ctypes.c_void_p or issubclass(kind, ctypes._Pointer)


def address_of(one: object) -> int:
    if isinstance(one, np.ndarray):
        return one.ctypes.data
    if isinstance(one, bytes):
        return ctypes.cast(ctypes.c_char_p(one), ctypes.c_void_p).value or 0
    return ctypes.addressof(one)  # type: ignore[arg-type]


def size_of(one: object) -> int:
    return one.nbytes if isinstance(one, np.ndarray) else len(one) if isinstance(one, bytes) else ctypes.sizeof(one)  # type: ignore[arg-type]


def image_of(
    program: Program, tensors: Mapping[str, np.ndarray], where: str, processor: str, contents: Contents
) -> bytes:
    """A packed file's bytes."""
    lanes, pointer_bytes = PROCESSORS[processor]
    parts = Parts(program, dict(tensors), where)
    layout = PortableLayout(lanes, parts)
    model = layout.model(program)
    max_tokens = min(contents.max_tokens, parts.sizes.longest)
    tokenizer = with_truncation(contents.tokenizer, max_tokens) if contents.tokenizer else None
    words = Wordpiece.of(tokenizer, max_tokens) if tokenizer else None
    image = Image(pointer_bytes, [*layout.pinned, *(words.pinned if words else [])])
    offsets = {"model": image.add_structure(model), "wordpiece": image.add_structure(words.tables) if words else 0}
    offsets["names"] = image.add(b"".join(label.encode() + b"\0" for label in contents.labels) + b"\0")
    offsets["tokenizer"] = image.add(tokenizer.to_str().encode() + b"\0") if tokenizer else 0
    offsets["list"] = image.add(np.array(sorted(image.pointers), dtype=np.uint32).tobytes() + bytes(4))
    sizes, answer = parts.sizes, ANSWERS.index(contents.answer)
    numbers = [c.LAYOUT, pointer_bytes, lanes, len(image.pointers), sizes.labels, sizes.vocabulary, sizes.longest]
    numbers += [sizes.types, int(program.per_token), answer, max_tokens, len(contents.labels)]
    ends = [len(image.data), *(offsets[name] for name in ("model", "wordpiece", "names", "tokenizer", "list"))]
    header = MAGIC + np.array(numbers, dtype="<i4").tobytes() + np.array(ends, dtype="<u8").tobytes()
    image.data[: len(header)] = header
    return bytes(image.data)


def pack(folder: Path, out: Path, processor: str = "") -> Json:
    """Writes the packed file of a folder with a native program."""
    from niwaki.answers._from_config import answer_type_of, labels_of
    from niwaki.engines.input_encoder import TOKENIZER, read_tokenizer
    from niwaki.models.config_rules import CONFIG, readable_tokens
    from niwaki.models.config_rules import read as read_config

    processor = processor or processor_here()
    if processor not in PROCESSORS:
        raise UsageError(f"pack: unknown processor '{processor}'; one of {', '.join(PROCESSORS)}")
    if not (folder / PROGRAM).is_file():
        raise InputError(f"{folder}: has no {PROGRAM}; `niwaki export {folder} --to native` writes a model that has")
    program, tensors = read_program(folder)
    if type(program) is not Program:
        raise InputError(f"{folder}: generates texts; packed files hold encoders, and the native engine runs this one")
    config, where = read_config(folder), str(folder / CONFIG)
    labels, problem = labels_of(config, where), answer_type_of(config, where).problem
    answer = {"single_label_classification": ANSWERS[1], "multi_label_classification": ANSWERS[2]}.get(
        problem or "", ANSWERS[0]
    )
    tokenizer = read_tokenizer(folder / TOKENIZER) if (folder / TOKENIZER).is_file() else None
    contents = Contents(labels, answer, readable_tokens(config), tokenizer)
    data = image_of(program, tensors, str(folder / PROGRAM), processor, contents)
    write_bytes(out, data)
    return {"out": str(out), "bytes": len(data), "processor": processor, "labels": labels, "answer": answer}
