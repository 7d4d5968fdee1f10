"""Makes one stage: load, prepare, train, finish, save, evaluate. What a stage leaves is a committed folder."""

import hashlib
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from niwaki.answers._kind import Rows
from niwaki.core.errors import Refused
from niwaki.core.files import committed, fingerprint, require_space, write_json
from niwaki.core.log import say
from niwaki.core.seeds import derive
from niwaki.data.batching import epoch_batches
from niwaki.engines.export import write_graph
from niwaki.engines.predictor import Predictor
from niwaki.evaluate.footprint import footprint
from niwaki.evaluate.quality import quality
from niwaki.meter.ledger import Attempt
from niwaki.methods._method import Context
from niwaki.models.forward import Batch, forward
from niwaki.models.lean import Lean
from niwaki.models.model import CONFIG, Model, config_of, load_folder
from niwaki.run.plan import Plan, PlannedStage
from niwaki.tasks._task import Features, Task
from niwaki.train.feed import Feed, encode_for
from niwaki.train.loop import Job, fit
from niwaki.train.state import Position
from niwaki.train.teacher import Teacher

OUTCOMES = "outcomes.npy"  # of each test row, the numbers that the scores are made of
STATE_COPIES = 8  # weights, two moments and the best weights, in two states
CPU = torch.device("cpu")


class StageMaker:
    """One stage of a plan in one run folder."""

    def __init__(
        self, plan: Plan, stage: PlannedStage, run_folder: Path, attempt: Attempt, should_stop: Callable[[], bool]
    ) -> None:
        self.plan, self.stage, self.run_folder, self.attempt, self.should_stop = (
            plan,
            stage,
            run_folder,
            attempt,
            should_stop,
        )
        self.task, self.seed = plan.task, plan.recipe.seed
        self.work = run_folder / "stages" / f".work-{stage.spec.name}-{stage.key[:12]}"
        self.device = torch.device("cuda") if torch.cuda.is_available() else CPU

    def make(self) -> None:
        torch.manual_seed(derive(self.seed, "stage"))  # a new head's first weights; training seeds itself
        model = self._start()
        weights = sum(value.numel() * value.element_size() for value in model.network.state_dict().values())
        require_space(
            self.run_folder,
            weights * (1 + (STATE_COPIES if self.stage.spec.train else 0)),
            f"stage '{self.stage.spec.name}'",
        )
        model, context, train = self._prepare(model)
        position = self._train(model, context, train)
        for method in self.stage.methods:
            model = method.finish(model)
        self._save(model, position)
        shutil.rmtree(self.work, ignore_errors=True)

    def _start(self) -> Model:
        if self.stage.parent is None:
            return load_folder(self.plan.model_folder, self.task.head)
        return load_folder(self._model_folder(self.stage.parent))

    def _model_folder(self, stage: str) -> Path:
        return self.run_folder / self.plan.stage(stage).folder / "model"

    def _prepare(self, model: Model) -> tuple[Model, Context, Features]:
        """The methods reshape the model in turn; what a teacher says is worked out last, for the rows as they then are."""
        teacher_model = load_folder(self._model_folder(self.stage.spec.teacher)) if self.stage.spec.teacher else None
        early = self._context(None, teacher_model)
        for method in self.stage.methods:
            model = method.prepare(model, early)
        model.network.config.niwaki_max_tokens = min(self.task.max_tokens, model.anatomy.max_tokens)
        features = self._features(model)
        if teacher_model is None or not self.stage.spec.train:
            return model, early, features
        needs = frozenset().union(*(method.needs for method in self.stage.methods))
        feed = Feed(self._features(teacher_model), teacher_model, self.device)
        self._refuse_other_tokens(features, feed.features, layers=bool(needs))
        if not needs:
            say(f"{self.stage.spec.name}: the teacher reads {len(features)} texts, unless it has before")
        teacher = Teacher(teacher_model, feed, needs, self.stage.precision, self._teacher_cache(feed))
        return model, self._context(teacher, teacher_model), features

    def _context(self, teacher: Teacher | None, teacher_model: Model | None) -> Context:
        return Context(
            self.seed, teacher, teacher_model, self._calibration, self._loss, self.task.soft_loss, self._texts
        )

    def _refuse_other_tokens(self, own: Features, teachers: Features, layers: bool) -> None:
        """Layers, and answers for every token, can only be compared where both read the same tokens."""
        if not layers and not self.task.kind.per_token:
            return
        if not np.array_equal(own.rows.ids.starts, teachers.rows.ids.starts):
            what, mending = (
                ("layers", "distil with 'logits', which needs no layers")
                if layers
                else ("answers for each token", "give the student the teacher's tokenizer")
            )
            raise Refused(
                f"stage '{self.stage.spec.name}': student and teacher split the texts into different tokens, so their {what} "
                f"cannot be compared; {mending}"
            )

    def _teacher_cache(self, feed: Feed) -> Path:
        """Named by what decides the answers: the teacher, the texts in its tokens, the precision."""
        key = fingerprint(
            [self.plan.stage(self.stage.spec.teacher).key, self.stage.precision, rows_digest(feed.features.rows)]
        )
        return self.run_folder / "cache" / f"logits-{key[:16]}"

    def _features(self, model: Model) -> Features:
        """Training rows in the model's tokens, with the unlabelled ones behind."""
        features = encode_for(model, self.task, "train")
        texts = self._transfer()
        if not texts:
            return features
        limit = min(self.task.max_tokens, model.anatomy.max_tokens)
        return features.joined(self.task.unlabelled(texts, model.tokenizer.backend_tokenizer, limit))

    def _transfer(self) -> list[str]:
        train = self.stage.spec.train
        return self.task.transfer_texts(train.transfer, self.seed) if train and train.transfer else []

    def _texts(self) -> Iterable[str]:
        yield from self.task.texts(self.task.splits()["train"])
        yield from self._transfer()

    def _calibration(self, model: Model, count: int) -> Iterable[Batch]:
        feed = Feed(encode_for(model, self.task, "train"), model, CPU)
        for rows in epoch_batches(feed.lengths, 32, derive(self.seed, "calibration"), 0)[:count]:
            yield feed.batch(rows)

    def _loss(self, model: Model, batch: Batch) -> Tensor:
        return self.task.loss(forward(model.network, model.anatomy, batch).logits, batch)

    def _train(self, model: Model, context: Context, features: Features) -> Position | None:
        settings = self.stage.spec.train
        if settings is None:
            return None
        train = Feed(features, model, self.device)
        validation = Feed(encode_for(model, self.task, "validation"), model, self.device)
        return fit(Job(
            self.stage.spec.name, model, self.stage.methods, context, self.task, train, validation, settings,
            self.stage.precision, derive(self.seed, "train"), self.work, self._tick,
        ))  # fmt: skip

    def _tick(self) -> bool:
        self.attempt.beat()
        return self.should_stop()

    def _save(self, model: Model, position: Position | None) -> None:
        """Saves, then measures what was saved, as its user would run it."""
        with committed(self.run_folder / self.stage.folder) as folder:
            (folder / "model").mkdir()
            model.save(folder / "model")
            write_graph(model, folder / "model")
            if position is not None:
                shutil.copy(self.work / "train.jsonl", folder / "train.jsonl")
            self._settle(model, folder / "model")
            write_json(folder / "result.json", self._measure(model, folder, position))

    def _settle(self, model: Model, folder: Path) -> None:
        """What is chosen on the validation rows, such as a threshold, is chosen for the artifact and kept in its config."""
        table = self.task.splits()["validation"]
        if type(self.task).settled is Task.settled:
            return
        predictor = Predictor(folder)
        rows = predictor.encode(self.task.inputs(table))
        kind = self.task.settled(predictor.logits(rows), rows, table)
        model.network.config.niwaki_answer = kind.to_json()
        write_json(folder / CONFIG, config_of(model.network))

    def _measure(self, model: Model, folder: Path, position: Position | None) -> dict[str, Any]:
        predictor = Predictor(folder / "model")
        outcomes = {part: self._outcomes(predictor, part) for part in self.task.tests}
        np.save(folder / OUTCOMES, outcomes["test"], allow_pickle=False)
        scores = {part: quality(self.task, found, self.seed) for part, found in outcomes.items()}
        score = scores.pop("test")
        say(
            f"{self.stage.spec.name}: {score['metric']} {score['value']:.4f} ({score['low']:.3f} to {score['high']:.3f})"
        )
        training = None
        if position is not None:
            training = {"steps": position.step, "best_step": position.best_step, "best_score": position.best_score}
        return {
            "version": 1, "stage": self.stage.spec.name, "key": self.stage.key, "score": score, "parts": scores,
            **footprint(model, folder / "model", round(float(np.mean(self._few(predictor, 256).ids.lengths)))),
            "training": training, "engine": predictor.engine, "parity": parity(model, predictor, self._few(predictor, 16)),
            "spent": self.attempt.window.peek().to_dict(),
        }  # fmt: skip

    def _outcomes(self, predictor: Predictor, part: str) -> np.ndarray:
        table = self.task.splits()[part]
        return self.task.outcomes(predictor.values(self.task.inputs(table)), table)

    def _few(self, predictor: Predictor, count: int) -> Rows:
        return predictor.encode(self.task.inputs(self.task.splits()["test"].slice(0, count)))


@torch.no_grad()
def parity(model: Model, predictor: Predictor, rows: Rows) -> float:
    """Largest difference between the engine's logits and torch's on a few texts: rounding for floats, more for integers."""
    lean = Lean(model.network.eval(), model.anatomy)
    own = []
    for number, length in enumerate(rows.ids.lengths):
        given = (torch.from_numpy(part[number].astype(np.int64))[None] for part in (rows.ids, rows.types))
        ids, types = given
        own.append(lean(ids, torch.ones(1, int(length)), types).numpy()[0])
    own_logits = np.concatenate(own) if predictor.kind.per_token else np.stack(own)
    return float(np.abs(own_logits - predictor.logits(rows)).max())


def rows_digest(rows: Rows) -> str:
    """Names the token ids of a feed without turning them into text."""
    digest = hashlib.sha256(rows.ids.starts.tobytes())
    digest.update(np.ascontiguousarray(rows.ids.values).data)
    return digest.hexdigest()
