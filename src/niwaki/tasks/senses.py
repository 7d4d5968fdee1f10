"""Your own sentences in which some words are to be disambiguated: which sense of an inventory (WordNet) each has.

The network gives a vector at the first token of each target word. Every sense has a fixed vector, computed from its gloss,
and a candidate is scored by one dot product (`answers/_sense_inventory.py`). So the network is a plain token classifier.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa

from niwaki.answers._answer_type import EncodedInputs, Input, Value
from niwaki.answers._lemmas import Lemmas
from niwaki.answers._sense_inventory import labels
from niwaki.answers.senses import Senses as SensesAnswer
from niwaki.answers.senses import Sentence, Target, tokens_of
from niwaki.data import dataset_files, raganato
from niwaki.data.ragged import Ragged
from niwaki.models.forward import NO_LABEL
from niwaki.tasks import _sense_scores as scoring
from niwaki.tasks._declarations import TableFormat
from niwaki.tasks._gloss_definitions import definitions
from niwaki.tasks._gloss_examples import examples
from niwaki.tasks._scorer import Scorer
from niwaki.tasks._sense_baselines import first_sense
from niwaki.tasks._sense_inventories import InventoryBuilder
from niwaki.tasks._sense_loss import SenseCriterion
from niwaki.tasks._sense_rows import IDS, SCHEMA, sense_rows
from niwaki.tasks._sense_settings import SenseSettings
from niwaki.tasks._tables import row_slices
from niwaki.tasks._task import Task
from niwaki.tasks.tagging import words_in

PRIOR_WEIGHTS = (0.0, 0.25, 0.5, 0.75, 1.0)


class Senses(SenseSettings, Task):
    table: ClassVar[TableFormat] = TableFormat(
        "senses", ("tokens", "lemmas", "pos", "senses"), optional=(IDS,), path_settings=("inventory", "glosses")
    )
    answer: ClassVar[str] = "senses"
    metric: ClassVar[str] = "f1"
    description: ClassVar[str] = "which sense of an inventory a word has in its sentence"

    @cached_property
    def inventories(self) -> InventoryBuilder:
        return InventoryBuilder(self)

    def read_parts(self) -> dict[str, pa.Table]:
        path = Path(self.data.source).expanduser()
        return {"all": raganato.read_raganato(path)} if raganato.is_raganato(path) else dataset_files.read_splits(path)

    def normalized(self, part: str, table: pa.Table) -> pa.Table:
        """Sentences with target words; others are left out."""
        columns = self.data.columns(table)
        return sense_rows(table, [columns[role] for role in self.table.roles], self.data.source, part)

    def extra_rows(self, rows: pa.Table) -> pa.Table:
        """The example sentences in the glosses and the definitions, if they are wanted."""
        found: list[dict[str, list]] = []
        inventory = self.inventories.without_vectors if self.examples or self.definitions else None
        if inventory and self.examples:
            found += examples(inventory, Lemmas(inventory.sense_ranges, self.inventories.forms(rows)))
        if inventory and self.definitions:
            found += definitions(inventory)
        return pa.Table.from_pylist([{**row, "text": " ".join(row["tokens"])} for row in found], SCHEMA)

    @property
    def labels(self) -> list[str]:
        return labels(self.dimensions)

    @cached_property
    def answer_type(self) -> SensesAnswer:
        return SensesAnswer.with_inventory(lambda: self.inventories.complete)

    def files(self) -> dict[str, bytes]:
        return self.inventories.complete.to_files()

    def inputs(self, rows: pa.Table) -> list[Input]:
        columns = rows.select(["tokens", "words", "lemmas", "pos"]).to_pylist()
        targets = (zip(row["words"], row["lemmas"], row["pos"], strict=True) for row in columns)
        return [
            Sentence(row["tokens"], [Target(*word) for word in words])
            for row, words in zip(columns, targets, strict=True)
        ]

    def gold(self, rows: pa.Table) -> list[Value]:
        return rows.column("senses").to_pylist()

    def texts(self, rows: pa.Table) -> Iterator[str]:
        for part in row_slices(rows):
            yield from (token for tokens in part.column("tokens").to_pylist() for token in tokens)

    def targets(self, rows: pa.Table, encoded: EncodedInputs) -> Ragged:
        """The number of the question at the first token of each target word."""
        flat = np.full(len(encoded.ids.values), NO_LABEL, dtype=np.int32)
        inputs, inventory = self.inputs(rows), self.inventories.without_vectors
        words = [target for sentence in inputs for target in sentence.targets]
        golds = [keys for gold in self.gold(rows) for keys in gold]
        for place, target, keys in zip(tokens_of(encoded, inputs), words, golds, strict=True):
            if place >= 0:
                flat[place] = self.criterion.questions.number(inventory, target.lemma, keys)
        return Ragged(flat, encoded.ids.starts)

    def tuned(self, logits: np.ndarray, rows: EncodedInputs, table: pa.Table) -> SensesAnswer:
        """With the weight of the senses' frequencies that scores best on the validation rows, the smallest of several that do. In training, these
        frequencies are better than they are for other texts, so the network relies on them too much."""
        inputs = self.inputs(table)
        kinds = [self.answer_type.model_copy(update={"prior_weight": weight}) for weight in PRIOR_WEIGHTS]
        stats = [self.scorer.example_stats(kind.values(logits, rows, inputs, self.labels), table) for kind in kinds]
        scores = [self.scorer.scores(found)[self.metric] for found in stats]
        return kinds[int(np.argmax(scores))]

    @cached_property
    def criterion(self) -> SenseCriterion:
        return SenseCriterion(lambda: self.inventories.complete, self.without_prior, self.balance)

    @cached_property
    def scorer(self) -> "SensesScorer":
        return SensesScorer(self)

    def extra_digest(self) -> object:
        return self.inventories.digest()

    def extra_remarks(self) -> Iterator[str]:
        """Words without a sense in the inventory, which no model can answer."""
        has = self.inventories.without_vectors.lemmas.has
        for part, table in self.splits().items():
            rows = table.select(["lemmas", "pos"]).to_pylist()
            words = (word for row in rows for word in zip(row["lemmas"], row["pos"], strict=True))
            unknown = Counter(word for word in words if not has(*word))
            if unknown:
                (lemma, pos), _ = unknown.most_common(1)[0]
                yield f"{self.data.source}: {sum(unknown.values())} words of the {part} rows are not in the inventory ({lemma}, {pos} …)"


class SensesScorer(Scorer[Senses]):
    correct_columns: ClassVar[slice] = slice(0, None, 3)  # points of each group

    def example_stats(self, values: Sequence[Value], rows: pa.Table) -> np.ndarray:
        """Points, answered words and target words of each part of speech, of words that have their first sense and others."""
        examples = zip(
            values, self.task.gold(rows), rows.column("pos").to_pylist(), self.has_first_sense(rows), strict=True
        )
        return np.stack([scoring.counts(*example) for example in examples])

    def scores(self, example_stats: np.ndarray) -> dict[str, float]:
        return scoring.scores(example_stats)

    def has_first_sense(self, rows: pa.Table) -> list[list[bool]]:
        """Of each target word, whether the first sense in the inventory is correct."""
        inventory = self.task.inventories.without_vectors
        return [
            [first_sense(inventory, target) in keys for target, keys in zip(sentence.targets, gold, strict=True)]
            for sentence, gold in zip(self.task.inputs(rows), self.task.gold(rows), strict=True)
        ]

    def parse_value(self, cell: object) -> Value:
        return words_in(cell)

    def note(self) -> str:
        """The sizes of the two groups, which the scores do not tell."""
        counts = {part: self.count_words(part) for part in self.task.data.tests}
        words = ", ".join(f"{part} {first:,} and {other:,}" for part, (first, other) in counts.items())
        return f"Words whose correct sense is the inventory's first, and others: {words}."

    def count_words(self, part: str) -> tuple[int, int]:
        """Target words of a split whose correct sense is the inventory's first, and others."""
        found = [one for row in self.has_first_sense(self.task.splits()[part]) for one in row]
        return sum(found), len(found) - sum(found)
