"""Documents to sentences, by punctuation alone: no model, any language that ends sentences with full stops."""

import re
from collections.abc import Iterator

import pyarrow as pa

from niwaki.data.spill import gather

SLICE = 4096  # documents that are plain Python at a time
# a full stop and what closes behind it, unless a small letter follows; one of Chinese or Japanese; the end of a line
END = re.compile(r"""[.!?]+["'”’)\]]*\s+(?![a-z])|[。！？]+["”’」』）]*\s*|\n+""")
SCHEMA = pa.schema([("text", pa.string()), ("document", pa.int64())])


def sentences_of(text: str) -> list[str]:
    """The sentences of a text, without spaces around them."""
    ends = [match.end() for match in END.finditer(text)]
    parts = (text[start:end].strip() for start, end in zip([0, *ends], [*ends, len(text)], strict=True))
    return [part for part in parts if part]


def sentence_table(documents: pa.ChunkedArray, most: int | None = None) -> pa.Table:
    """Sentences in order, and the number of the document of each; the first `most`, if that is given."""
    found = gather(_batches(documents, most), SCHEMA)
    return found if most is None else found.slice(0, most)


def _batches(documents: pa.ChunkedArray, most: int | None) -> Iterator[pa.RecordBatch]:
    done = 0
    for start in range(0, len(documents), SLICE):
        if most is not None and done >= most:
            return
        cut = [sentences_of(text) for text in documents.slice(start, SLICE).to_pylist()]
        texts = [sentence for sentences in cut for sentence in sentences]
        owners = [number for number, sentences in enumerate(cut, start) for _ in sentences]
        done += len(texts)
        yield pa.record_batch([pa.array(texts, pa.string()), pa.array(owners, pa.int64())], schema=SCHEMA)
