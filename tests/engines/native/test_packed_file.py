"""Packed files: the bits of the engine that reads the folder, for every kind of processor; damaged files are rejected or run safely."""

import itertools

import numpy as np
import pytest

import tiny
from engines.native.packing import write_drawn
from niwaki.core.errors import InputError, UsageError
from niwaki.engines.native import library as c
from niwaki.engines.native.network import Network
from niwaki.engines.native.packed import Packed, PackedError
from niwaki.engines.native.packed_file import HEADER_BYTES, PROCESSORS, pack, processor_here
from niwaki.models.edits.int8 import Int8
from seq2seq import seq2seq_model

SEEDS = range(12)
KERNELS = {"avx512": ("amx", "avx512"), "avx2": ("avx_vnni", "avx2"), "arm": ("four_in_c",), "any": ("plain",)}


def rows_of(path, texts):
    model = Packed(path, threads=2)
    found = model.logits([(ids.tolist(), types.tolist()) for ids, types in texts])
    return model.kernels, np.array([row for rows in found for row in rows], dtype=np.float32)


@pytest.mark.parametrize("processor", KERNELS)
def test_outputs_are_those_of_the_engine(processor, tmp_path):
    name = next((one for one in KERNELS[processor] if c.kernels(one)), None)
    if name is None:
        pytest.skip(f"this processor does not run {processor}")
    for seed in SEEDS:
        drawn, path = write_drawn(seed, processor, tmp_path)
        network = Network(drawn.program, drawn.tensors, "here", name)
        wanted = np.concatenate([network(*text, np.array([len(text[0])])) for text in drawn.texts])
        used, found = rows_of(path, drawn.texts)
        assert used == name
        np.testing.assert_array_equal(found.view(np.uint32), wanted.reshape(found.shape).view(np.uint32))


def test_a_file_for_another_processor_or_version_is_rejected(tmp_path):
    _, path = write_drawn(1, "wasm", tmp_path)
    with pytest.raises(PackedError, match="packed for another kind of processor"):
        Packed(path)
    _, path = write_drawn(1, "any", tmp_path)
    data = bytearray(path.read_bytes())
    data[8] += 1
    path.write_bytes(data)
    with pytest.raises(PackedError, match="packed by another version of niwaki"):
        Packed(path)
    for content in (b"", b"niwaki", bytes(400)):
        path.write_bytes(content)
        with pytest.raises(PackedError, match="is not a packed model"):
            Packed(path)
    with pytest.raises(PackedError, match="cannot be opened"):
        Packed(tmp_path / "missing")


def test_a_damaged_file_is_rejected_or_runs_safely(tmp_path):
    """Sizes, offsets and pointers, changed one at a time."""
    drawn, path = write_drawn(0, "any", tmp_path)
    data, draw = path.read_bytes(), np.random.default_rng(5)
    for cut in (1, 64, len(data) // 2):
        path.write_bytes(data[:-cut])
        with pytest.raises(PackedError, match="is not complete"):
            Packed(path)
    pointers = int(np.frombuffer(data[20:24], np.int32)[0])
    start = len(data) - 4 - 4 * pointers
    structures = int(np.frombuffer(data[start : start + 4], np.uint32)[0])
    rejected = 0
    for place, value in itertools.product(
        draw.choice(np.arange(8, HEADER_BYTES - 32, 4), 12, replace=False), (-1, 0, 1 << 30, 7)
    ):
        rejected += is_rejected(path, data, int(place), value, drawn)
    for place in draw.integers(structures // 4, start // 4, 150) * 4:
        rejected += is_rejected(path, data, int(place), int(draw.choice([-1, 0, 1, 3, 1 << 20, 1 << 30])), drawn)
    assert rejected > 40


def is_rejected(path, data, place, value, drawn):
    changed = bytearray(data)
    changed[place : place + 4] = np.int32(value).tobytes()
    path.write_bytes(changed)
    try:
        rows_of(path, [(np.minimum(ids, 3), types) for ids, types in drawn.texts[:2]])
    except PackedError:
        return True
    return False


def test_only_encoders_for_the_engine_are_packed(tmp_path):
    model = tiny.model("bert", layers=1)
    model.apply_edit(Int8())
    folder = tiny.deployed(model, tmp_path / "bert")
    with pytest.raises(UsageError, match="unknown processor 'z80'"):
        pack(folder, tmp_path / "x", "z80")
    found = pack(folder, tmp_path / "x")
    assert found["processor"] == processor_here() in PROCESSORS and found["bytes"] == (tmp_path / "x").stat().st_size
    (folder / "native.json").unlink()
    with pytest.raises(InputError, match=r"niwaki export .* --to native"):
        pack(folder, tmp_path / "x")
    with pytest.raises(InputError, match="packed files hold encoders"):
        pack(tiny.deployed(seq2seq_model("bert", layers=1), tmp_path / "two"), tmp_path / "x")
