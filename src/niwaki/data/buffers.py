"""Bytes handed to Arrow's readers."""

import pyarrow as pa


def arrow_buffer(data: bytes) -> pa.BufferReader:
    """A copy of the bytes in memory that Arrow owns.

    Arrow's threads may drop the last reference to a buffer at any time. To release memory that Python owns they would
    have to wait for the interpreter, which may be shutting down: the process then aborts or hangs."""
    buffer = pa.allocate_buffer(len(data))
    memoryview(buffer).cast("B")[:] = data
    return pa.BufferReader(buffer)
