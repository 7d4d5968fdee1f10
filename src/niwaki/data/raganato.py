"""Sentences with words to be disambiguated as Raganato et al. (2017) write them: `NAME.data.xml` and `NAME.gold.key.txt`.

expat reads the XML as a stream and follows no reference to other files. A document type, and with it every entity
that a file could declare, is rejected.
"""

from collections.abc import Iterator
from pathlib import Path
from xml.parsers import expat

import pyarrow as pa

from niwaki.core.errors import InputError, first_line
from niwaki.core.json_types import Json
from niwaki.data.spill import gather

XML, KEYS = ".data.xml", ".gold.key.txt"
LISTS = ("tokens", "lemmas", "pos", "instance_ids", "sense_keys")
TEXTS = pa.list_(pa.string())
SCHEMA = pa.schema(
    [
        ("doc_id", pa.string()),
        ("sent_id", pa.string()),
        *((name, TEXTS) for name in LISTS[:-1]),
        ("sense_keys", pa.list_(TEXTS)),
    ]
)
BLOCK, BATCH = 1 << 20, 1024
MAX_WORDS, MAX_TEXT = 20_000, 10_000  # of a sentence; characters of a word: more than any has
MAX_DEPTH = 8
WORDS = ("wf", "instance")


def is_raganato(path: Path) -> bool:
    return path.name.endswith(XML)


def read_raganato(path: Path) -> pa.Table:
    """One row for each sentence, as the parquet form has them. InputError if the two files do not belong together."""
    keys = read_keys(path.with_name(path.name.removesuffix(XML) + KEYS))
    annotated = set()

    def batches() -> Iterator[pa.RecordBatch]:
        rows = []
        for row in sentences(path):
            found = [identity for identity in row["instance_ids"] if identity is not None]
            without = [identity for identity in found if identity not in keys]
            if without:
                raise InputError(f"{path}: instance '{without[0]}' has no key in the file of gold keys")
            annotated.update(found)
            rows.append({**row, "sense_keys": [None if one is None else keys[one] for one in row["instance_ids"]]})
            if len(rows) == BATCH:
                yield pa.RecordBatch.from_pylist(rows, SCHEMA)
                rows = []
        if rows:
            yield pa.RecordBatch.from_pylist(rows, SCHEMA)

    table = gather(batches(), SCHEMA)
    if not table.num_rows:
        raise InputError(f"{path}: has no sentences")
    if len(annotated) < len(keys):
        lost = min(set(keys) - annotated)
        raise InputError(f"{path}: the gold key '{lost}' belongs to no instance; are the files of the same set?")
    return table


def read_keys(path: Path) -> dict[str, list[str]]:
    """Instance → its right senses, one or several: a line each, with spaces between."""
    if not path.is_file():
        raise InputError(f"{path}: is not there; the gold keys are next to the {XML} file")
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read ({first_line(error)})") from None
    found: dict[str, list[str]] = {}
    for number, line in enumerate(lines, start=1):
        identity, *senses = line.split() or [""]
        if not identity:
            continue
        if not senses or identity in found:
            what = "names no sense" if not senses else "is there twice"
            raise InputError(f"{path}: line {number}: instance '{identity}' {what}")
        found[identity] = senses
    return found


def sentences(path: Path) -> Iterator[Json]:
    """Each with its words in parallel lists; None among the instances if a word is not annotated."""
    reader = _Reader()
    try:
        with path.open("rb") as file:
            while block := file.read(BLOCK):
                reader.parser.Parse(block, False)
                yield from reader.taken()
            reader.parser.Parse(b"", True)
            yield from reader.taken()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    except expat.ExpatError as error:
        raise InputError(f"{path}: is no sound XML ({error})") from None
    except _Fault as fault:
        raise InputError(f"{path}: line {reader.parser.CurrentLineNumber}: {fault}") from None


class _Fault(Exception):
    """What is wrong with an element."""


class _Reader:
    """Events of the parser to sentences."""

    def __init__(self) -> None:
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self._reject_doctype
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self._done: list[Json] = []
        self._document, self._depth = "", 0
        self._sentence: Json | None = None
        self._word: Json | None = None

    def taken(self) -> list[Json]:
        done, self._done = self._done, []
        return done

    def _reject_doctype(self, *_: object) -> None:
        raise _Fault("declares a document type, which no such file needs; take it out")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _Fault(f"elements are nested more than {MAX_DEPTH} deep")
        if name == "text":
            self._document = attributes.get("id", "")
        elif name == "sentence":
            self._sentence = {
                "doc_id": self._document,
                "sent_id": attributes.get("id", ""),
                **{key: [] for key in LISTS[:-1]},
            }
        elif name in WORDS:
            if self._sentence is None:
                raise _Fault(f"<{name}> stands outside of a sentence")
            if name == "instance" and "id" not in attributes:
                raise _Fault("an instance has no id")
            self._word = {
                "text": "",
                "lemma": attributes.get("lemma", ""),
                "pos": attributes.get("pos", ""),
                "id": attributes.get("id") if name == "instance" else None,
            }

    def _text(self, data: str) -> None:
        if self._word is not None:
            self._word["text"] += data
            if len(self._word["text"]) > MAX_TEXT:
                raise _Fault(f"a word has more than {MAX_TEXT} characters")

    def _end(self, name: str) -> None:
        self._depth -= 1
        if name in WORDS and self._word is not None:
            row, word, self._word = self._sentence, self._word, None
            assert row is not None
            for key, value in zip(
                LISTS[:-1], (word["text"].strip(), word["lemma"], word["pos"], word["id"]), strict=True
            ):
                row[key].append(value)
            if len(row["tokens"]) > MAX_WORDS:
                raise _Fault(f"a sentence has more than {MAX_WORDS} words")
        elif name == "sentence" and self._sentence is not None:
            self._done.append(self._sentence)
            self._sentence = None
