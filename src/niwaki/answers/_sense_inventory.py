"""The sense inventory of a model: the senses of every lemma, their glosses, and a fixed vector for each sense.

The network gives a vector v at a word; a sense s has the vector g_s, and its score is v · g_s. g_s is made of three parts:
the gloss of its synset in a few dimensions, kept in 8 bits; one of the 45 lexicographer files (`noun.animal`, `verb.motion`
…), which is a single 1 among zeros and never written out; and how common it is among the senses of its lemma. So the network
learns from the context how far to trust the prior, and all of it stays one product.
"""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import compute, parquet

from niwaki.answers._lemmas import Lemmas
from niwaki.core.errors import InputError
from niwaki.core.files import require_memory
from niwaki.core.tensor_file import read_header
from niwaki.data import dataset_files
from niwaki.data.spill import gather
from niwaki.data.wordnet import LEXFILES, POS, SENSES, reject_dangling_senses

SENSES_FILE, SYNSETS_FILE, FORMS_FILE, VECTORS_FILE = (
    "senses.parquet",
    "synsets.parquet",
    "forms.parquet",
    "glosses.safetensors",
)
PRIORS = ("frequency", "first", "rank")
UNSEEN = 0.5  # added to each count: what was never seen is not impossible
TABLES = {
    SENSES_FILE: SENSES,
    SYNSETS_FILE: pa.schema([("synset", pa.string()), ("lexfile", pa.int32()), ("gloss", pa.string())]),
    FORMS_FILE: pa.schema([("form", pa.string()), ("pos", pa.string()), ("lemma", pa.string())]),
}


@dataclass(frozen=True)
class Vectors:
    """Glosses as vectors of whole numbers: `codes[row] × scale`, where row 0 is that of glosses that need none."""

    codes: np.ndarray  # (rows, dimensions) int8
    rows: np.ndarray  # (synsets,) int32
    scale: np.ndarray  # (1,) float32

    @classmethod
    def packed(cls, vectors: np.ndarray, which: np.ndarray, synsets: int) -> "Vectors":
        """Vectors (n, dimensions) of the synsets `which`, the largest number of all as 127."""
        scale = np.float32(max(float(np.abs(vectors).max(initial=0.0)), 1e-6) / 127)
        codes = np.rint(vectors / scale).astype(np.int8)
        rows = np.zeros(synsets, dtype=np.int32)
        rows[which] = 1 + np.arange(len(which), dtype=np.int32)
        return cls(np.concatenate([np.zeros((1, vectors.shape[1]), np.int8), codes]), rows, np.array([scale]))


class SenseInventory:
    """Senses in the order of lemma, part of speech, number: the candidates of a word are always a stretch of them."""

    def __init__(
        self, senses: pa.Table, synsets: pa.Table, forms: Mapping[tuple[str, str], str], vectors: Vectors
    ) -> None:
        """`forms`: irregular forms with their part of speech → lemma."""
        self.synsets, self.forms, self.vectors = synsets, forms, vectors
        ranks = compute.index_in(senses.column("pos"), pa.array(POS))
        order = senses.append_column("rank", ranks).sort_by(
            [(name, "ascending") for name in ("lemma", "rank", "sense_number")]
        )
        self.senses = order.drop_columns(["rank"])
        found = compute.index_in(self.senses.column("synset"), synsets.column("synset").combine_chunks())
        self.synset = found.to_numpy()  # (senses,) the number of each one's
        self.lexfile = synsets.column("lexfile").to_numpy()[self.synset]  # (senses,)
        self.row = vectors.rows[self.synset]
        self.keys: list[str] = self.senses.column("sense_key").to_pylist()
        lemmas = self.senses.column("lemma").to_pylist()
        number = numbered(lemmas)
        self.sense_ranges = sense_ranges(lemmas, number, order.column("rank").to_numpy())
        counts, places = (self.senses.column(name).to_numpy() for name in ("tag_count", "sense_number"))
        self.prior = priors(counts, places, number)

    def candidates(self, lemma: str, pos: str = "") -> tuple[int, int]:
        """The stretch of a lemma's senses, of one part of speech or of all; (0, 0) where it has none."""
        found = self.sense_ranges.get(lemma)
        if found is None:
            return 0, 0
        if not pos:
            return found[0], found[-1]
        place = POS.index(pos)
        return found[place], found[place + 1]

    def scores(
        self, vectors: np.ndarray, owners: np.ndarray, senses: np.ndarray, prior_weight: float = 1.0
    ) -> np.ndarray:
        """v · g_s for pairs: (pairs,) of the vectors (n, width) by number and senses by number. `prior_weight` scales the part of the prior."""
        found = np.empty(len(senses), dtype=np.float32)
        codes, dimensions = self.vectors.codes, self.vectors.codes.shape[1]
        for first in range(0, len(senses), 1 << 14):  # a few MB at a time
            piece = slice(first, first + (1 << 14))
            v, s = vectors[owners[piece]], senses[piece]
            gloss = np.einsum("pd,pd->p", v[:, :dimensions], codes[self.row[s]].astype(np.float32)) * self.vectors.scale
            prior = np.einsum("pd,pd->p", v[:, dimensions + LEXFILES :], self.prior[s])
            found[piece] = gloss + v[np.arange(len(v)), dimensions + self.lexfile[s]] + prior_weight * prior
        return found

    @cached_property
    def lemmas(self) -> Lemmas:
        return Lemmas(self.sense_ranges, self.forms)

    def gloss(self, sense: int) -> str:
        return self.synsets.column("gloss")[int(self.synset[sense])].as_py()

    def synset_of(self, sense: int) -> str:
        return self.senses.column("synset")[sense].as_py()

    # ── as files ────────────────────────────────────────────────────────────────────────────────────────────────────

    def to_files(self) -> dict[str, bytes]:
        from safetensors.numpy import save

        forms = [{"form": form, "pos": pos, "lemma": lemma} for (form, pos), lemma in sorted(self.forms.items())]
        tables = {
            SENSES_FILE: self.senses,
            SYNSETS_FILE: self.synsets,
            FORMS_FILE: pa.Table.from_pylist(forms, TABLES[FORMS_FILE]),
        }
        vectors = {"codes": self.vectors.codes, "rows": self.vectors.rows, "scale": self.vectors.scale}
        return {
            **{name: _parquet(tables[name].select(schema.names).cast(schema)) for name, schema in TABLES.items()},
            VECTORS_FILE: save(vectors),
        }

    @classmethod
    def from_folder(cls, folder: Path) -> "SenseInventory":
        """Rejects missing and damaged files, and files that do not belong together."""
        senses, synsets, forms = (_read(folder / name, schema) for name, schema in TABLES.items())
        reject_dangling_senses(folder, senses, synsets)
        irregular = {(row["form"], row["pos"]): row["lemma"] for row in forms.to_pylist()}
        return cls(senses, synsets, irregular, _vectors(folder / VECTORS_FILE, synsets.num_rows))


def numbered(lemmas: Sequence[str]) -> np.ndarray:
    """Of each sense, the number of its lemma, where those of a lemma lie together."""
    changes = [one != other for one, other in zip(lemmas[1:], lemmas[:-1], strict=True)]
    return np.concatenate([[0], np.cumsum(changes, dtype=np.int64)]) if len(lemmas) else np.zeros(0, np.int64)


def sense_ranges(lemmas: Sequence[str], numbers: np.ndarray, ranks: np.ndarray) -> dict[str, tuple[int, ...]]:
    """Lemma → where its nouns, verbs, adjectives and adverbs begin, and where the last of them end."""
    count = int(numbers[-1]) + 1 if len(numbers) else 0
    sizes = np.bincount(numbers * len(POS) + ranks, minlength=count * len(POS)).reshape(count, len(POS))
    firsts = np.searchsorted(numbers, np.arange(count))
    bounds = firsts[:, None] + np.pad(np.cumsum(sizes, axis=1), ((0, 0), (1, 0)))
    return dict(zip([lemmas[first] for first in firsts.tolist()], map(tuple, bounds.tolist()), strict=True))


def priors(counts: np.ndarray, numbers: np.ndarray, lemmas: np.ndarray) -> np.ndarray:
    """(senses, 3): log of the share that a sense has among all of its lemma, whether it is the first of its part of
    speech, and 1 / its number there."""
    seen = counts.astype(np.float64) + UNSEEN
    share = np.log(seen / np.bincount(lemmas, seen)[lemmas]) if len(seen) else seen
    return np.stack([share, numbers == 1, 1 / np.maximum(numbers, 1)], axis=1).astype(np.float32)


def labels(dimensions: int) -> list[str]:
    """Names of the numbers that a network gives at a word."""
    return [*(f"gloss {n}" for n in range(dimensions)), *(f"file {n}" for n in range(LEXFILES)), *PRIORS]


def _parquet(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    # a dictionary of texts that differ makes a file no smaller, and slow to read
    parquet.write_table(table, sink, compression="zstd", compression_level=15, use_dictionary=["pos"])
    return sink.getvalue()


def _read(path: Path, schema: pa.Schema) -> pa.Table:
    if not path.is_file():
        raise InputError(f"{path}: is missing; a model that names senses needs it next to its weights")
    try:
        return gather(dataset_files.batches(path, schema.names), schema).cast(schema)  # which may have no rows
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InputError(f"{path}: its columns are not of the right types ({error})") from None


def _vectors(path: Path, synsets: int) -> Vectors:
    from safetensors.numpy import load_file

    if not path.is_file():
        raise InputError(f"{path}: is missing; a model that names senses needs it next to its weights")
    found = read_header(path).tensors
    shapes = {name: (tensor.dtype, len(tensor.shape)) for name, tensor in found.items()}
    if shapes != {"codes": ("I8", 2), "rows": ("I32", 1), "scale": ("F32", 1)} or found["rows"].shape != (synsets,):
        raise InputError(f"{path}: must hold codes, the row of each of the {synsets} synsets, and a scale")
    require_memory(2 * path.stat().st_size, f"{path}: it")
    tensors = load_file(path)
    codes, rows, scale = tensors["codes"], tensors["rows"], tensors["scale"]
    if not len(codes) or (len(rows) and not 0 <= rows.min() <= rows.max() < len(codes)):
        raise InputError(f"{path}: a synset's row is not among the {len(codes)} there are")
    if scale.shape != (1,) or not np.isfinite(scale).all():
        raise InputError(f"{path}: its scale must be one finite number")
    return Vectors(codes, rows, scale)
