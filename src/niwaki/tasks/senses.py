"""Your own sentences in which some words are to be disambiguated: which sense of an inventory (WordNet) each has.

The network gives a vector at the first token of each such word; a sense has a fixed vector, made of its gloss, and the
candidates of the lemma are scored by one product each (`answers/_sense_inventory.py`). So it is a token classifier like any other.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import torch
from pydantic import PrivateAttr
from torch import Tensor

from niwaki.answers._answer_type import EncodedInputs, Input, Value
from niwaki.answers._lemmas import Lemmas
from niwaki.answers._sense_inventory import SenseInventory, Vectors, labels
from niwaki.answers.senses import Senses as SensesAnswer
from niwaki.answers.senses import Sentence, Target, tokens_of
from niwaki.core.errors import InputError
from niwaki.core.files import fingerprint
from niwaki.core.settings import setting
from niwaki.data import dataset_files, raganato, wordnet
from niwaki.data.column_names import normalize
from niwaki.data.ragged import Ragged
from niwaki.models.distillation_losses import soft_cross_entropy
from niwaki.models.forward import Batch
from niwaki.tasks import _sense_scores as scoring
from niwaki.tasks._gloss_examples import examples
from niwaki.tasks._glosses import encoded, encoder_digest, reduced, smoothed, text_of
from niwaki.tasks._sense_loss import Tables, any_right, candidate_scores
from niwaki.tasks._tables import digest, row_slices
from niwaki.tasks._task import NO_LABEL, Task

INVENTORY = "wordnet30"  # its folder's name, where it lies beside the rows
TEXTS = pa.list_(pa.string())
COLUMNS = pa.schema(
    [
        ("text", pa.string()),
        ("tokens", TEXTS),
        ("words", pa.list_(pa.int32())),
        ("lemmas", TEXTS),
        ("pos", TEXTS),
        ("senses", pa.list_(TEXTS)),
        ("ids", TEXTS),
    ]
)
Question = tuple[int, int, tuple[bool, ...]]  # the stretch of candidates, and which of them are right


class Senses(Task):
    tokens: str = setting("", "column that holds the words of a sentence, as a list; none guesses")
    lemmas: str = setting("", "column that holds their lemmas; none guesses")
    pos: str = setting("", "column that holds their parts of speech; none guesses")
    senses: str = setting("", "column that holds the right sense keys of each word, a list or nothing; none guesses")
    inventory: str = setting(
        "", "folder of WordNet (parquet, or its dict files); none looks for 'wordnet30' beside the rows"
    )
    glosses: str = setting("minilm", "encoder that reads the glosses: a name, folder or hub id; 'words' takes TF-IDF")
    dimensions: int = setting(128, "numbers that a gloss is reduced to", ge=2, le=4096)
    examples: bool = setting(False, "whether the sentences in the inventory's glosses are train rows too")
    hypernyms: float = setting(0.0, "share of the gloss of the synset above that is mixed in", ge=0, le=10)

    column_roles: ClassVar[tuple[str, ...]] = ("tokens", "lemmas", "pos", "senses")
    column_layout: ClassVar[str] = "senses"
    optional_columns: ClassVar[tuple[str, ...]] = ("instanceids",)
    answer: ClassVar[str] = "senses"
    path_settings: ClassVar[tuple[str, ...]] = ("inventory", "glosses")
    metric: ClassVar[str] = "f1"
    correct_columns: ClassVar[slice] = slice(0, None, 3)  # points of each part of speech
    description: ClassVar[str] = "which sense of an inventory a word has in its sentence"

    _questions: dict[Question, int] = PrivateAttr(default_factory=dict)

    # ── rows ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def parts(self) -> dict[str, pa.Table]:
        path = Path(self.source()).expanduser()
        return {"all": raganato.read_raganato(path)} if raganato.is_raganato(path) else dataset_files.read_splits(path)

    def normalized(self, part: str, table: pa.Table) -> pa.Table:
        """Sentences in which something is asked; the others are left out."""
        columns = self.columns(table)
        chosen = table.select([columns[role] for role in self.column_roles]).rename_columns(list(self.column_roles))
        names = next((name for name in table.column_names if normalize(name) == "instanceids"), None)
        ids = table.column(names) if names else pa.nulls(table.num_rows)
        rows = (row for some in row_slices(chosen.append_column("ids", ids)) for row in some.to_pylist())
        made = (self._asked(number, row, part) for number, row in enumerate(rows))
        return pa.Table.from_pylist([row for row in made if row["words"]], COLUMNS)

    def _asked(self, number: int, row: dict[str, Any], part: str) -> dict[str, Any]:
        """One row in the task's own columns; Refused where its lists are none, or not as long as each other."""
        where = f"{self.source()}: row {number + 1} of the {part} rows"
        lists = [row[role] for role in self.column_roles]
        if not all(isinstance(one, list) for one in lists) or len({len(one) for one in lists}) != 1:
            raise InputError(f"{where}: tokens, lemmas, parts of speech and senses must be lists of the same length")
        tokens, lemmas, parts, senses = lists
        if any(not isinstance(token, str) or not token.strip() for token in tokens):
            raise InputError(f"{where}: a word is empty; fill it or drop the row")
        asked = [place for place, keys in enumerate(senses) if keys]
        named = isinstance(row["ids"], list) and len(row["ids"]) == len(tokens)
        found: dict[str, list[Any]] = {"words": asked, "lemmas": [], "pos": [], "senses": [], "ids": []}
        for place in asked:
            pos, keys = wordnet.pos_of(parts[place]), senses[place]
            if pos is None or not lemmas[place]:
                raise InputError(
                    f"{where}: word {place + 1} ('{tokens[place]}') has senses, and no lemma or no part of speech that has any ({parts[place]})"
                )
            found["lemmas"].append(wordnet.lemma_of(lemmas[place]))
            found["pos"].append(pos)
            found["senses"].append([keys] if isinstance(keys, str) else keys)
            found["ids"].append(str(row["ids"][place]) if named else f"{number}.{place}")
        return {"text": " ".join(tokens), "tokens": tokens, **found}

    def with_extra_rows(self, rows: pa.Table) -> pa.Table:
        if not self.examples:
            return rows
        lemmas = Lemmas(self.inventory_without_vectors.sense_ranges, self._forms(rows))
        shown = [{**row, "text": " ".join(row["tokens"])} for row in examples(self.inventory_without_vectors, lemmas)]
        return pa.concat_tables([rows, pa.Table.from_pylist(shown, COLUMNS)])

    @property
    def labels(self) -> list[str]:
        return labels(self.dimensions)

    def inputs(self, rows: pa.Table) -> list[Input]:
        return [
            Sentence(row["tokens"], [Target(*one) for one in zip(row["words"], row["lemmas"], row["pos"], strict=True)])
            for row in rows.select(["tokens", "words", "lemmas", "pos"]).to_pylist()
        ]

    def gold(self, rows: pa.Table) -> list[Value]:
        return rows.column("senses").to_pylist()

    def texts(self, rows: pa.Table) -> Iterator[str]:
        for part in row_slices(rows):
            yield from (token for tokens in part.column("tokens").to_pylist() for token in tokens)

    def remarks(self) -> list[str]:
        return [*super().remarks(), *self._unknown()]

    def _unknown(self) -> Iterator[str]:
        """Words that the inventory has no sense of, which nothing can answer."""
        has = self.inventory_without_vectors.lemmas.has
        for part, table in self.splits().items():
            words = (
                word
                for row in table.select(["lemmas", "pos"]).to_pylist()
                for word in zip(row["lemmas"], row["pos"], strict=True)
            )
            lacking = Counter(word for word in words if not has(*word))
            if lacking:
                (lemma, pos), _ = lacking.most_common(1)[0]
                yield f"{self.source()}: {sum(lacking.values())} words of the {part} rows are not in the inventory ({lemma}, {pos} …)"

    # ── what the model knows beside its network ─────────────────────────────────────────────────────────────────────

    @cached_property
    def answer_type(self) -> SensesAnswer:
        return SensesAnswer.with_inventory(lambda: self.sense_inventory)

    def files(self) -> dict[str, bytes]:
        return self.sense_inventory.to_files()

    @cached_property
    def wordnet(self) -> wordnet.WordNet:
        return wordnet.read_wordnet(self._inventory_folder())

    def _inventory_folder(self) -> Path:
        if self.inventory:
            return Path(self.inventory).expanduser()
        folder_name = Path(self.source()).expanduser()
        beside = [place / INVENTORY for place in (folder_name, folder_name.parent, folder_name.parent.parent)]
        found = next((place for place in beside if place.is_dir()), None)
        if found is None:
            raise InputError(
                f"data.inventory: needed for task '{self.name}' (a folder of WordNet; there is no '{INVENTORY}' beside {folder_name})"
            )
        return found

    @cached_property
    def inventory_without_vectors(self) -> SenseInventory:
        """The inventory without vectors, which take long."""
        nothing = Vectors(
            np.zeros((1, 0), np.int8), np.zeros(self.wordnet.synsets.num_rows, np.int32), np.ones(1, np.float32)
        )
        return SenseInventory(self.wordnet.senses, self._synsets, self.wordnet.exceptions, nothing)

    @property
    def _synsets(self) -> pa.Table:
        return self.wordnet.synsets.select(["synset", "lexfile", "gloss"])

    @cached_property
    def sense_inventory(self) -> SenseInventory:
        return SenseInventory(self.wordnet.senses, self._synsets, self._forms(self.splits()["train"]), self._vectors())

    def _forms(self, rows: pa.Table) -> dict[tuple[str, str], str]:
        """Irregular forms, from the inventory and from train rows."""
        return {**irregular(rows, self.inventory_without_vectors), **self.wordnet.exceptions}

    def _vectors(self) -> Vectors:
        """Of the glosses that ever have to be told from others: those of lemmas with one sense do not."""
        rows = self.wordnet.synsets.to_pylist()
        lemmas = Counter(self.wordnet.senses.column("lemma").to_pylist())
        pairs = zip(
            self.wordnet.senses.column("lemma").to_pylist(),
            self.wordnet.senses.column("synset").to_pylist(),
            strict=True,
        )
        needed = {synset for lemma, synset in pairs if lemmas[lemma] > 1}
        which = np.array([number for number, row in enumerate(rows) if row["synset"] in needed], dtype=np.int64)
        if len(which) < 2:
            raise InputError(f"{self._inventory_folder()}: no lemma has several senses, so there is nothing to choose")
        chosen = [rows[number] for number in which]
        place = {row["synset"]: number for number, row in enumerate(chosen)}
        above = [[place[name] for name in row["hypernyms"] if name in place] for row in chosen]
        vectors = encoded(self.glosses, [text_of(row["lemmas"], row["gloss"]) for row in chosen])
        return Vectors.packed(reduced(smoothed(vectors, above, self.hypernyms), self.dimensions), which, len(rows))

    def fingerprint(self) -> str:
        inventory = [
            digest(self.wordnet.senses),
            digest(self.wordnet.synsets),
            sorted(map(list, self.wordnet.exceptions.items())),
        ]
        return fingerprint([super().fingerprint(), inventory, encoder_digest(self.glosses)])

    # ── loss ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def targets(self, rows: pa.Table, encoded: EncodedInputs) -> Ragged:
        """At the first token of a word, the number of its question: which candidates, which of them right. The
        candidates are the senses of the lemma in all parts of speech: -log p(sense | lemma) is -log p(part of speech) and
        -log p(sense | part of speech), so what is learnt serves words whose part of speech is told and plain sentences
        alike. Words with one candidate, or none that is right, teach nothing."""
        flat = np.full(len(encoded.ids.values), NO_LABEL, dtype=np.int32)
        inputs, golds = self.inputs(rows), self.gold(rows)
        asked = (
            (target, keys)
            for one, gold in zip(inputs, golds, strict=True)
            for target, keys in zip(one.targets, gold, strict=True)
        )
        for place, (target, keys) in zip(tokens_of(encoded, inputs), asked, strict=True):
            if place >= 0:
                flat[place] = self._question(target, keys)
        return Ragged(flat, encoded.ids.starts)

    def _question(self, target: Target, keys: Sequence[str]) -> int:
        first, last = self.inventory_without_vectors.candidates(target.lemma)
        right = tuple(key in keys for key in self.inventory_without_vectors.keys[first:last])
        if last - first < 2 or not any(right):
            return NO_LABEL
        return self._questions.setdefault((first, last, right), len(self._questions))

    def _tables(self, device: torch.device) -> Tables:
        if self._moved is None or self._moved.codes.device != device:
            self._moved = Tables.of(self.sense_inventory, device)
        return self._moved

    _moved: Tables | None = PrivateAttr(None)

    def _asked_about(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
        """Which tokens are asked about (batch, tokens); their stretches (words, 2); which candidates are right (words, most)."""
        asked = batch.targets != NO_LABEL
        sense_ranges, right = self._question_tables(len(self._questions))
        numbers = batch.targets[asked].cpu().numpy()
        rows, _ = right.padded(numbers)
        found, device = (torch.from_numpy(sense_ranges[numbers]), torch.from_numpy(rows).bool()), batch.targets.device
        return asked, found[0].to(device), found[1].to(device)

    def _question_tables(self, count: int) -> tuple[np.ndarray, Ragged]:
        """(questions, 2) and ragged; made anew where further rows asked further questions."""
        if self._made is None or len(self._made[0]) != count:
            sense_ranges = np.array([question[:2] for question in self._questions], dtype=np.int64)
            self._made = sense_ranges, Ragged.of((question[2] for question in self._questions), np.int8)
        return self._made

    _made: tuple[np.ndarray, Ragged] | None = PrivateAttr(None)

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """Cross-entropy over the senses of the lemma alone; any of several right ones is right."""
        if not (batch.targets != NO_LABEL).any():
            return logits.sum() * 0
        asked, sense_ranges, right = self._asked_about(batch)
        return any_right(candidate_scores(logits[asked].float(), sense_ranges, self._tables(logits.device)), right)

    def soft_loss(self, student: Tensor, teacher: Tensor, batch: Batch, temperature: float) -> Tensor:
        if not (batch.targets != NO_LABEL).any():
            return student.sum() * 0
        asked, sense_ranges, _ = self._asked_about(batch)
        tables = self._tables(student.device)
        own, others = (candidate_scores(logits[asked].float(), sense_ranges, tables) for logits in (student, teacher))
        return soft_cross_entropy(own, others, temperature)

    # ── scores ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def example_stats(self, values: Sequence[Value], rows: pa.Table) -> np.ndarray:
        """Points, answered and asked words of each part of speech."""
        parts = rows.column("pos").to_pylist()
        return np.stack([scoring.outcome(*one) for one in zip(values, self.gold(rows), parts, strict=True)])

    def scores(self, example_stats: np.ndarray) -> dict[str, float]:
        return scoring.scores(example_stats)

    def parse_value(self, text: Any) -> Value:
        return text.split() if isinstance(text, str) else list(text)


def irregular(rows: pa.Table, inventory: SenseInventory) -> dict[tuple[str, str], str]:
    """Forms that the train rows have and the rules do not lead to their lemma (went, children), each with the lemma it is
    most often of. Names are left out: they stand for a person or a place, and are no forms."""
    regular, counts = Lemmas(inventory.sense_ranges, {}), Counter[tuple[str, str, str]]()
    for part in row_slices(rows):
        for row in part.to_pylist():
            words = (
                (row["tokens"][place], lemma, pos)
                for place, lemma, pos in zip(row["words"], row["lemmas"], row["pos"], strict=True)
            )
            counts.update(
                (column_layout, lemma, pos)
                for column_layout, lemma, pos in words
                if column_layout.islower() and column_layout.isalpha() and regular.has(lemma, pos)
            )
    found: dict[tuple[str, str], str] = {}
    for (column_layout, lemma, pos), _ in sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])):
        if (lemma, pos) not in regular.of(column_layout):
            found.setdefault((column_layout, pos), lemma)
    return found
