"""Bytes handed to Arrow."""

import gc

import pyarrow as pa
import pytest
from pyarrow import csv

from niwaki.data.buffers import arrow_buffer


@pytest.mark.parametrize("data", [b"", b"\x00", b"text,label\na,1\n" * 1000])
def test_the_bytes_are_read_back(data):
    assert arrow_buffer(data).read() == data


def test_arrow_owns_the_memory():
    before = pa.total_allocated_bytes()
    data = bytearray(b"a" * 100_000)
    reader = arrow_buffer(bytes(data))
    assert pa.total_allocated_bytes() - before >= 100_000
    data[:] = b"b" * 100_000
    assert reader.read(3) == b"aaa"  # a copy
    del reader
    gc.collect()
    assert pa.total_allocated_bytes() == before


def test_tables_are_read_from_it():
    assert csv.read_csv(arrow_buffer(b"text,label\na,1\nb,2\n")).to_pydict() == {"text": ["a", "b"], "label": [1, 2]}
