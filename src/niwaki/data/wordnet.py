"""WordNet: the senses of each lemma and the synsets they stand for, from parquet or from WordNet's own `dict` files.

A folder holds `senses.parquet` and `synsets.parquet`, or `index.sense` and `data.noun` … as Princeton gives them out; the
lists of irregular forms (`noun.exc` …) are read where they are there.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyarrow import compute

from niwaki.core.errors import InputError
from niwaki.data import dataset_files

LEXFILES = 45  # lexicographer files, which part the synsets by what they are of: noun.animal, verb.motion …
POS = ("noun", "verb", "adj", "adv")
SPELLINGS = {name: name for name in POS} | {
    "n": "noun",
    "v": "verb",
    "a": "adj",
    "s": "adj",
    "j": "adj",
    "r": "adv",
    "adjective": "adj",
    "adverb": "adv",
    "1": "noun",
    "2": "verb",
    "3": "adj",
    "4": "adv",
    "5": "adj",
}
LETTERS = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "s"}  # the digit of a sense key, the letter of its synset
TEXTS = pa.list_(pa.string())
SENSES = pa.schema(
    [
        ("sense_key", pa.string()),
        ("lemma", pa.string()),
        ("pos", pa.string()),
        ("synset", pa.string()),
        ("sense_number", pa.int32()),
        ("tag_count", pa.int32()),
    ]
)
SYNSETS = pa.schema(
    [("synset", pa.string()), ("lexfile", pa.int32()), ("lemmas", TEXTS), ("gloss", pa.string()), ("hypernyms", TEXTS)]
)
MAX_LINE_BYTES = 1 << 20
MARKER = re.compile(r"\((?:p|a|ip)\)$")  # where an adjective may stand, behind it in `data.adj`


@dataclass(frozen=True)
class WordNet:
    senses: pa.Table
    synsets: pa.Table
    exceptions: dict[tuple[str, str], str]  # irregular form and part of speech → its lemma


def read_wordnet(folder: Path) -> WordNet:
    """InputError in one line if the folder has no inventory, or one whose senses refer to missing entries."""
    if not folder.is_dir():
        raise InputError(f"{folder}: is no folder with an inventory of senses (senses.parquet and synsets.parquet)")
    if (folder / "senses.parquet").is_file():
        senses, synsets = (
            _table(folder / f"{name}.parquet", schema) for name, schema in (("senses", SENSES), ("synsets", SYNSETS))
        )
    elif (folder / "index.sense").is_file():
        senses = pa.Table.from_pylist(list(_index(folder / "index.sense")), SENSES)
        synsets = pa.Table.from_pylist([row for pos in POS for row in _data(folder / f"data.{pos}")], SYNSETS)
    else:
        raise InputError(f"{folder}: has neither senses.parquet and synsets.parquet nor index.sense and data.noun")
    reject_dangling_senses(folder, senses, synsets)
    return WordNet(senses, synsets, dict(_exceptions(folder)))


def pos_of(text: str) -> str | None:
    """`noun`, `verb`, `adj` or `adv`, however it is spelt (NOUN, n, 1); None of other words."""
    return SPELLINGS.get(str(text).lower())


def lemma_of(text: str) -> str:
    """As WordNet's index has it: in small letters, with underscores between words."""
    return text.strip().lower().replace(" ", "_")


def reject_dangling_senses(where: Path, senses: pa.Table, synsets: pa.Table) -> None:
    """Every sense must have a key of its own, a part of speech, a synset that is there, and a number from 1 on."""
    for name, table in (("senses", senses), ("synsets", synsets)):
        for column in table.column_names:
            if table.column(column).null_count:
                raise InputError(f"{where}: {name} has empty cells in '{column}'; fill them or drop their rows")
    for table, column in ((senses, "sense_key"), (synsets, "synset")):
        if len(table.column(column).unique()) < table.num_rows:
            raise InputError(f"{where}: the same {column} is there twice; keep one")
    there = compute.is_in(senses.column("synset"), synsets.column("synset").combine_chunks())
    if not compute.all(there).as_py():
        lost = senses.column("synset").filter(compute.invert(there))[0].as_py()
        raise InputError(f"{where}: a sense belongs to synset '{lost}', which is not among the synsets")
    lexfiles = synsets.column("lexfile").to_numpy()
    if len(lexfiles) and not 0 <= lexfiles.min() <= lexfiles.max() < LEXFILES:
        raise InputError(f"{where}: a lexicographer file (lexfile) must be a number from 0 to {LEXFILES - 1}")
    odd = sorted(set(senses.column("pos").unique().to_pylist()) - set(POS))
    if odd:
        raise InputError(f"{where}: part of speech '{odd[0]}' is not known; write {', '.join(POS)}")


def _table(path: Path, schema: pa.Schema) -> pa.Table:
    found = dataset_files.read_table(path)
    if "hypernyms" in schema.names and "hypernyms" not in found.column_names:
        found = found.append_column("hypernyms", pa.array([[]] * found.num_rows, TEXTS))
    missing = [name for name in schema.names if name not in found.column_names]
    if missing:
        raise InputError(f"{path}: has no column '{missing[0]}'; an inventory has {', '.join(schema.names)}")
    try:
        return found.select(schema.names).cast(schema)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InputError(f"{path}: its columns are not of the types of an inventory ({error})") from None


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, without those of the licence, which begin with spaces."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(iter(lambda: file.readline(MAX_LINE_BYTES), b""), start=1):
                text = line.decode("utf-8")
                if text.strip() and not text.startswith(" "):
                    yield number, text.rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read ({error})") from None


def _index(path: Path) -> Iterator[dict[str, object]]:
    for number, line in _lines(path):
        try:
            key, offset, rank, count = line.split()
            lemma, _, rest = key.rpartition("%")
            yield {
                "sense_key": key,
                "lemma": lemma,
                "pos": SPELLINGS[rest[0]],
                "synset": f"{int(offset):08d}-{LETTERS[rest[0]]}",
                "sense_number": int(rank),
                "tag_count": int(count),
            }
        except (ValueError, KeyError, IndexError):
            raise InputError(f"{path}: line {number} is none of index.sense (key, offset, number, count)") from None


def _data(path: Path) -> Iterator[dict[str, object]]:
    """offset, lexicographer file, type, words (their count in hexadecimal), pointers (their count in decimal) | gloss."""
    for number, line in _lines(path):
        try:
            fields, _, gloss = line.partition("|")
            offset, lexfile, letter, words, *rest = fields.split()
            count = 2 * int(words, 16)
            lemmas = [MARKER.sub("", word) for word in rest[:count:2]]
            pointers = rest[count + 1 : count + 1 + 4 * int(rest[count])]
            above = [
                f"{pointers[at + 1]}-{pointers[at + 2]}"
                for at in range(0, len(pointers), 4)
                if pointers[at] in ("@", "@i")
            ]
            yield {
                "synset": f"{offset}-{letter}",
                "lexfile": int(lexfile),
                "lemmas": lemmas,
                "gloss": gloss.strip(),
                "hypernyms": above,
            }
        except (ValueError, IndexError):
            raise InputError(f"{path}: line {number} is none of a WordNet data file") from None


def _exceptions(folder: Path) -> Iterator[tuple[tuple[str, str], str]]:
    for pos in POS:
        path = folder / f"{pos}.exc"
        for _, line in _lines(path) if path.is_file() else ():
            form, *lemmas = line.split()
            if lemmas:
                yield (form, pos), lemmas[0]
