"""Several tasks at once on one trunk: each batch has rows of one task, drawn by temperature sampling, and its head reads the trunk's last layer.

Paper: Liu et al. 2019, Multi-Task Deep Neural Networks (arXiv 1901.11504); temperature: Raffel et al. 2020, T5 (arXiv 1910.10683).
A stage names the further tasks in `tasks`; their heads are trained next to the network and saved as heads of its folder.
"""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from niwaki.core.errors import InputError
from niwaki.core.seeds import derive, numpy_generator
from niwaki.core.settings import Settings, setting
from niwaki.data.batching import epoch_batches, in_order
from niwaki.data.ragged import Ragged
from niwaki.models.anatomy import Anatomy
from niwaki.models.features import Features
from niwaki.models.forward import NO_LABEL, Batch, Outputs
from niwaki.models.model import Model, load_folder
from niwaki.models.readings import logits_of_final
from niwaki.models.record import FINAL
from niwaki.models.trunk import is_of_head
from niwaki.objectives._objective import LabelledTask, Objective, Validation

VALIDATION = 1 << 40  # row numbers from here on are of validation rows


class MultiTaskSettings(Settings):
    temperature: float = setting(
        1.0, "tasks are drawn in proportion to rows^(1/temperature); 1: as many as they have, higher: more alike", ge=1
    )
    weight: float = setting(1.0, "factor of the loss of the recipe's own task", gt=0)


@dataclass
class TaskPart:
    """One of the tasks. The first is the recipe's, whose head is that of the network."""

    task: LabelledTask
    weight: float = 1.0
    features: dict[int, Features] = field(default_factory=dict)  # by the number of its first row
    anatomy: Anatomy | None = None  # its network, of which only the head is used; None: the network's own head
    head: "HeadWeights | None" = None

    def logits(self, outputs: Outputs, mask: Tensor, chosen: Tensor) -> Tensor:
        """Of the chosen sequences of a batch."""
        if self.anatomy is None:
            return outputs.logits[chosen].float()
        return logits_of_final(self.anatomy, outputs.final[0][chosen].float(), mask[chosen]).float()


class MultiTask(Objective):
    settings = MultiTaskSettings
    activations = frozenset({FINAL})
    keeps_helpers = True
    chosen: MultiTaskSettings

    def __init__(self, task: LabelledTask, settings: Settings | None = None) -> None:
        super().__init__(task, settings)
        self.parts = {"": TaskPart(task, self.chosen.weight)}

    @property
    def further(self) -> Mapping[str, TaskPart]:
        """The tasks besides the recipe's, by the names of their heads."""
        return {name: part for name, part in self.parts.items() if name}

    def add(self, name: str, task: LabelledTask, weight: float) -> None:
        self.parts[name] = TaskPart(task, weight)

    def check(self) -> None:
        for part in self.parts.values():
            _ = part.task.criterion

    def prepare(self, model: Model, seed: int = 0) -> None:
        if not self.further:
            return
        if model.anatomy.is_seq2seq or not model.anatomy.layers or model.anatomy.inputs.prompt_tokens:
            raise InputError("tasks: several tasks are trained on encoders with layers and without a prompt")
        body = model.anatomy.family.body
        with tempfile.TemporaryDirectory() as scratch, torch.random.fork_rng(devices=[]):
            model.save(Path(scratch))
            for name, part in self.further.items():
                torch.manual_seed(derive(seed, f"head {name}"))
                part.anatomy = load_folder(Path(scratch), part.task.head).anatomy
                part.head = HeadWeights(part.anatomy.network, body)
        self.helpers = nn.ModuleDict({name: part.head for name, part in self.further.items() if part.head is not None})

    def features(self, rows: pa.Table, tokenizer: Tokenizer, max_tokens: int | None = None) -> Features:
        """Rows of all tasks, one task behind the other. Their targets are their numbers: `loss` looks up the task's own."""
        is_validation = rows is self.task.splits()["validation"]
        start, split = (VALIDATION, "validation") if is_validation else (0, "train")
        found: Features | None = None
        for name, part in self.parts.items():
            own = part.task.features(part.task.splits()[split] if name else rows, tokenizer, max_tokens)
            if own.rows.group > 1:
                raise InputError(
                    f"tasks: '{part.task.name}' reads several texts for an answer, and cannot be trained with others"
                )
            part.features = {
                first: one for first, one in part.features.items() if (first >= VALIDATION) != is_validation
            }
            part.features[start] = own
            numbered = Features(replace(own.rows, metadata=[]), np.arange(start, start + len(own), dtype=np.int64))
            found = numbered if found is None else found.joined(numbered)
            start += len(own)
        assert found is not None
        return found

    def batches(self, features: Features, size: int, seed: int, epoch: int) -> list[np.ndarray]:
        starts = {name: min(part.features) for name, part in self.parts.items()}
        counts = [len(part.features[starts[name]]) for name, part in self.parts.items()]
        shares = drawn([-(-count // size) for count in counts], counts, self.chosen.temperature)
        found: list[np.ndarray] = []
        for (name, first), count, share in zip(starts.items(), counts, shares, strict=True):
            lengths = features.lengths[first : first + count]
            found += [rows + first for rows in stream(lengths, size, derive(seed, "task", name), epoch * share, share)]
        order = numpy_generator(seed, "tasks", epoch).permutation(len(found))
        return [found[number] for number in order]

    def rows_per_epoch(self, rows: int) -> int:
        return rows + sum(part.task.splits()["train"].num_rows for part in self.further.values())

    def loss(self, outputs: Outputs, batch: Batch) -> Tensor:
        losses = []
        for part, first, features, chosen in self._in(batch):
            rows = (batch.targets[chosen] - first).cpu().numpy()
            logits = part.logits(outputs, batch.mask, chosen)
            inputs = {name: value[chosen] for name, value in batch.inputs.items()}
            targets = targets_of(features, rows, batch.mask.shape[1]).to(batch.targets.device)
            own = Batch(inputs, targets, torch.as_tensor(rows))
            losses.append(part.weight * part.task.criterion.loss(logits, own) * len(rows) / len(batch.targets))
        return torch.stack(losses).sum()

    def _in(self, batch: Batch) -> Iterator[tuple[TaskPart, int, Features, Tensor]]:
        """The tasks in a batch, each with its features, the number of their first row, and its sequences (numbers)."""
        for part in self.parts.values():
            for first, features in part.features.items():
                chosen = ((batch.targets >= first) & (batch.targets < first + len(features))).nonzero()[:, 0]
                if len(chosen):
                    yield part, first, features, chosen

    def score(self, validation: Validation) -> float:
        """The mean of the tasks' primary metrics."""
        found: dict[int, list[tuple[np.ndarray, np.ndarray]]] = {}
        per_token: dict[int, bool] = {}
        for outputs, batch in validation.passes(self):
            for part, first, _, chosen in self._in(batch):
                logits, mask = part.logits(outputs, batch.mask, chosen), batch.mask[chosen].bool()
                rows = (batch.targets[chosen] - first).cpu().numpy()
                per_token[first] = logits.ndim == 3
                values = (logits[mask] if per_token[first] else logits).detach().cpu().numpy()
                found.setdefault(first, []).append((rows, values))
        scores = []
        for part in self.parts.values():
            first = max(part.features)  # of the validation rows
            features, table = part.features[first], part.task.splits()["validation"]
            values = in_order(found[first], features.rows.ids.lengths, per_token[first])
            scores.append(part.task.scorer.score_logits(values, features.rows, table))
        return float(np.mean(scores))


class HeadWeights(nn.Module):
    """The head of another network, as a module of its own. The rest of that network is emptied: the trunk is the trained model's."""

    def __init__(self, network: nn.Module, body: str) -> None:
        super().__init__()
        outside = (module for path, module in network.named_modules() if is_of_head(path, body))
        self.dropouts = nn.ModuleList(module for module in outside if isinstance(module, nn.Dropout))
        for name, value in network.named_parameters():
            if is_of_head(name, body):
                self.register_parameter(name.replace(".", "/"), value)
            else:
                value.data = value.data.new_empty(0)

    def fill(self, network: nn.Module) -> None:
        """Copies the weights into another network with such a head."""
        for name, value in self.named_parameters():
            network.get_parameter(name.replace("/", ".")).data.copy_(value.detach().cpu())


def drawn(batches: Sequence[int], rows: Sequence[int], temperature: float) -> list[int]:
    """How many batches of each task an epoch has: at least one, and in all about as many as one pass over all rows takes."""
    shares = np.asarray(rows, dtype=np.float64) ** (1 / temperature)
    exact = shares / shares.sum() * sum(batches)
    counts = np.maximum(1, np.floor(exact)).astype(int)
    for number in np.argsort(-(exact - np.floor(exact)), kind="stable")[: max(0, sum(batches) - int(counts.sum()))]:
        counts[number] += 1
    return counts.tolist()


def stream(lengths: np.ndarray, size: int, seed: int, first: int, count: int) -> list[np.ndarray]:
    """Batches number `first` to `first + count` of a task's own passes over its rows, computed from the seed alone."""
    each = -(-len(lengths) // size)
    passes = {
        number: epoch_batches(lengths, size, seed, number)
        for number in range(first // each, (first + count - 1) // each + 1)
    }
    return [passes[number // each][number % each] for number in range(first, first + count)]


def targets_of(features: Features, rows: np.ndarray, tokens: int) -> Tensor:
    """A task's own targets of its rows; those of tokens as wide as the batch."""
    if not isinstance(features.targets, Ragged):
        return torch.from_numpy(features.targets[rows])
    found = torch.from_numpy(features.targets.padded(rows, NO_LABEL)[0])
    return nn.functional.pad(found, (0, tokens - found.shape[1]), value=NO_LABEL)
