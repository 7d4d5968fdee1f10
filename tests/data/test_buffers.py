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
    size, slack = 20_000_000, 1_000_000  # other tests' tables may be released meanwhile
    gc.collect()
    before = pa.total_allocated_bytes()
    data = bytearray(b"a" * size)
    reader = arrow_buffer(bytes(data))
    held = pa.total_allocated_bytes()
    assert held - before > size - slack
    data[:] = b"b" * size
    assert reader.read(3) == b"aaa"  # a copy
    del reader
    gc.collect()
    assert held - pa.total_allocated_bytes() > size - slack


def test_tables_are_read_from_it():
    assert csv.read_csv(arrow_buffer(b"text,label\na,1\nb,2\n")).to_pydict() == {"text": ["a", "b"], "label": [1, 2]}
