"""The sense inventory of a task: WordNet, irregular forms of the train rows, and a vector for every gloss."""

from collections import Counter
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from niwaki.answers._lemmas import Lemmas
from niwaki.answers._sense_inventory import SenseInventory, Vectors
from niwaki.core.errors import InputError
from niwaki.data import wordnet
from niwaki.tasks._glosses import encoded, encoder_digest, reduced, smoothed, text_of
from niwaki.tasks._tables import digest, row_slices

if TYPE_CHECKING:
    from niwaki.tasks.senses import Senses

INVENTORY = "wordnet30"  # name of its folder, if it lies next to the rows
Forms = dict[tuple[str, str], str]  # form and part of speech → lemma


class InventoryBuilder:
    """Reads WordNet once. `without_vectors` is cheap; `complete` encodes the glosses."""

    def __init__(self, task: "Senses") -> None:
        self.task = task

    @property
    def folder(self) -> Path:
        if self.task.inventory:
            return Path(self.task.inventory).expanduser()
        rows = Path(self.task.data.source).expanduser()
        found = next((place / INVENTORY for place in (rows, *rows.parents[:2]) if (place / INVENTORY).is_dir()), None)
        if found is None:
            raise InputError(
                f"data.inventory: needed for task '{self.task.name}' (a folder of WordNet; there is no '{INVENTORY}' next to {rows})"
            )
        return found

    @cached_property
    def wordnet(self) -> wordnet.WordNet:
        return wordnet.read_wordnet(self.folder)

    @cached_property
    def without_vectors(self) -> SenseInventory:
        none = Vectors(
            np.zeros((1, 0), np.int8), np.zeros(self.wordnet.synsets.num_rows, np.int32), np.ones(1, np.float32)
        )
        return SenseInventory(self.wordnet.senses, self._synsets, self.wordnet.exceptions, none)

    @cached_property
    def complete(self) -> SenseInventory:
        forms = self.forms(self.task.splits()["train"])
        return SenseInventory(self.wordnet.senses, self._synsets, forms, self._vectors())

    def forms(self, rows: pa.Table) -> Forms:
        """Irregular forms of the inventory and of train rows."""
        return {**irregular(rows, self.without_vectors), **self.wordnet.exceptions}

    def digest(self) -> list[object]:
        found = self.wordnet
        exceptions = sorted(map(list, found.exceptions.items()))
        return [digest(found.senses), digest(found.synsets), exceptions, encoder_digest(self.task.glosses)]

    @property
    def _synsets(self) -> pa.Table:
        return self.wordnet.synsets.select(["synset", "lexfile", "gloss"])

    def _vectors(self) -> Vectors:
        """Vectors of the glosses of ambiguous lemmas. Lemmas with one sense need none."""
        rows = self.wordnet.synsets.to_pylist()
        lemmas, synsets = (self.wordnet.senses.column(name).to_pylist() for name in ("lemma", "synset"))
        counts = Counter(lemmas)
        needed = {synset for lemma, synset in zip(lemmas, synsets, strict=True) if counts[lemma] > 1}
        which = np.array([number for number, row in enumerate(rows) if row["synset"] in needed], dtype=np.int64)
        if len(which) < 2:
            raise InputError(f"{self.folder}: no lemma has several senses, so there is nothing to choose")
        chosen = [rows[number] for number in which]
        place = {row["synset"]: number for number, row in enumerate(chosen)}
        above = [[place[name] for name in row["hypernyms"] if name in place] for row in chosen]
        vectors = encoded(self.task.glosses, [text_of(row["lemmas"], row["gloss"]) for row in chosen])
        smooth = smoothed(vectors, above, self.task.hypernyms)
        return Vectors.packed(reduced(smooth, self.task.dimensions), which, len(rows))


def irregular(rows: pa.Table, inventory: SenseInventory) -> Forms:
    """Forms in the train rows that the rules do not lead to their lemma (went, children), with the most frequent lemma.
    Capitalized words are left out: they are names."""
    regular, counts = Lemmas(inventory.sense_ranges, {}), Counter[tuple[str, str, str]]()
    for part in row_slices(rows):
        for row in part.to_pylist():
            words = zip(row["words"], row["lemmas"], row["pos"], strict=True)
            counts.update(
                (form, lemma, pos)
                for form, lemma, pos in ((row["tokens"][place], lemma, pos) for place, lemma, pos in words)
                if form.islower() and form.isalpha() and regular.has(lemma, pos)
            )
    found: Forms = {}
    for (form, lemma, pos), _ in sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])):
        if (lemma, pos) not in regular.of(form):
            found.setdefault((form, pos), lemma)
    return found
