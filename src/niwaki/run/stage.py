"""Makes one stage: load, prepare, train, finish, save, evaluate. What a stage leaves is a committed folder."""

import shutil
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from niwaki import __version__
from niwaki.answers._kind import Input, Rows
from niwaki.answers.text import Text
from niwaki.core.files import committed, require_space, write_json
from niwaki.core.log import say
from niwaki.core.seeds import derive
from niwaki.data.batching import epoch_batches
from niwaki.engines.alone import Alone
from niwaki.engines.export import write_graph
from niwaki.engines.native.files import write_program
from niwaki.engines.predictor import Predictor
from niwaki.evaluate.footprint import footprint
from niwaki.evaluate.quality import quality
from niwaki.meter.ledger import Attempt
from niwaki.methods._method import Context
from niwaki.models.forward import Batch, Outputs, forward
from niwaki.models.head import Head
from niwaki.models.insides import LOGITS, numbers
from niwaki.models.lean import Lean
from niwaki.models.model import CONFIG, Model, config_of, load_folder
from niwaki.models.replacing import InContext, Nearest, copies, masked_model
from niwaki.run.plan import Plan, PlannedStage, digest_of, versions
from niwaki.run.texts import cache_folder, drawn
from niwaki.run.tokens import refuse_other_tokens
from niwaki.tasks._task import Features, Task, texts_in
from niwaki.train.feed import Feed, encode_for, encode_rows
from niwaki.train.kept import Kept
from niwaki.train.loop import Interrupted, Job, fit
from niwaki.train.state import Position
from niwaki.train.teacher import Ask, FromDisk, Said, Shelf, Teacher, beside, in_batches, remembering, several

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
        model = self._start()
        weights = sum(value.numel() * value.element_size() for value in model.network.state_dict().values())
        require_space(
            self.run_folder,
            weights * (1 + (STATE_COPIES if self.stage.spec.train else 0)),
            f"stage '{self.stage.spec.name}'",
        )
        model, context, train = self._prepare(model)
        position = self._train(model, context, train) if train else None
        for method in self.stage.methods:
            model = method.finish(model)
        self._save(model, position)
        shutil.rmtree(self.work, ignore_errors=True)

    def _start(self) -> Model:
        parent = self.stage.parent
        return self._made(parent) if parent else self._loaded(self.stage.source, self.task.head)

    def _made(self, stage: str) -> Model:
        """What an earlier stage made; of "", the recipe's model with a head for the task."""
        return self._loaded(self._model_folder(stage)) if stage else self._loaded(self.plan.model_folder, self.task.head)  # fmt: skip

    def _loaded(self, folder: Path, head: Head | None = None) -> Model:
        torch.manual_seed(derive(self.seed, "stage"))  # a new head's first weights; training seeds itself
        return load_folder(folder, head)

    def _model_folder(self, stage: str) -> Path:
        return self.run_folder / self.plan.stage(stage).folder / "model"

    def _prepare(self, model: Model) -> tuple[Model, Context, Features | None]:
        """The methods reshape the model in turn; what teachers say is worked out last, for the rows as they then are. Without
        training there are no rows to encode."""
        folders = [self._model_folder(name) for name in self.stage.spec.teachers]
        teachers = [load_folder(folder) for folder in folders]
        early = self._context(None, teachers[0] if teachers else None)
        for method in self.stage.methods:
            model = method.prepare(model, early)
        model.network.config.niwaki_max_tokens = min(self.task.max_tokens, model.anatomy.max_tokens)
        if not self.stage.spec.train:
            return model, early, None
        features = self._features(model)
        if not teachers:
            return model, early, features
        asked = frozenset().union(*(method.asks(model, teachers[0]) for method in self.stage.methods))
        answering = [self._teacher(one, folder, asked, features, model) for one, folder in zip(teachers, folders, strict=True)]  # fmt: skip
        return model, self._context(remembering(several(answering)), teachers[0]), features

    def _context(self, teacher: Callable[[Batch], Outputs] | None, teacher_model: Model | None) -> Context:
        return Context(
            self.seed,
            teacher,
            teacher_model,
            self._calibration,
            self._loss,
            self.task.soft_loss,
            self._texts,
            self._made,
        )

    def _teacher(
        self, model: Model, folder: Path, asked: frozenset[str], features: Features, student: Model
    ) -> Callable[[Batch], Outputs]:
        """Where only logits are wanted they come from batches; layers from each text alone, kept where the disk may hold them. What was
        said of layers in an earlier stage had the logits with it: then they are taken from there."""
        model.network.to(self.device).eval().requires_grad_(False)
        feed = Feed(self._features(model), model, self.device)
        if asked or self.task.kind.per_token:
            refuse_other_tokens(self.stage.spec.name, features.rows, feed.features.rows, student, model, bool(asked))
        if model.anatomy.writes or (asked and self.device.type != "cpu"):
            return beside(model, feed, asked, self.stage.precision)
        names = (LOGITS, *sorted(asked))
        alone = bool(asked) or (self.stage.heard and self.device.type == "cpu")
        ask = self._alone(model, feed, asked) if alone else in_batches(model, feed, self.stage.precision)
        who = digest_of(folder), "alone" if alone else self.stage.precision
        shelf = Shelf(who, feed.features.rows, names, partial(numbers, model.anatomy), model.anatomy.per_token)
        return Teacher(feed, names, model.anatomy.per_token, self._kept(shelf, ask, least=not asked))

    def _alone(self, model: Model, feed: Feed, asked: frozenset[str]) -> Ask:
        alone, rows = Alone(model, asked, torch.get_num_threads()), feed.features.rows
        return lambda sequences: alone((rows.ids[one], rows.types[one]) for one in sequences)

    def _kept(self, shelf: Shelf, ask: Ask, least: bool) -> Ask:
        """`ask`, or what it said before; the disk that this takes is worked out first. What is the `least` that can be said, answers
        alone, is kept whatever the cache may hold."""
        settings, label = self.plan.recipe.cache, f"{self.stage.spec.name}: teacher"
        place, need = cache_folder(settings, self.run_folder), sum(shelf.bytes.values())
        kept = Kept(place, max(int(settings.gigabytes * 1e9), need if least else 0))
        if not kept.make_room(shelf.bytes) and not least:
            say(
                f"{label}: what it says of {len(shelf.lengths)} texts would take {need / 1e9:.1f} GB (cache.gigabytes is "
                f"{settings.gigabytes:g}), so it is asked anew at every step; the weights will be the same"
            )
            return ask
        say(f"{label}: reads {len(shelf.lengths)} texts, unless it has before; takes {need / 1e9:.2g} GB in {place}")
        where = place if place.exists() else self.run_folder
        require_space(where, kept.missing(shelf.bytes), f"stage '{self.stage.spec.name}', its teacher")
        return FromDisk(kept, shelf, ask, label, self._pause)

    def _pause(self) -> None:
        if self._tick():
            raise Interrupted

    def _features(self, model: Model) -> Features:
        """Training rows in the model's tokens, with the unlabelled ones behind."""
        train, limit = self.stage.spec.train, min(self.task.max_tokens, model.anatomy.max_tokens)
        labelled = encode_rows(model, self.task, self._rows) if train is None or train.labelled else None
        if not self._unlabelled:
            return labelled or encode_rows(model, self.task, self._rows)
        others = self.task.unlabelled(self._unlabelled, model.tokenizer.backend_tokenizer, limit)
        return labelled.joined(others) if labelled else others

    @cached_property
    def _rows(self) -> pa.Table:
        """The labelled rows that are trained on, as the methods want them."""
        rows = self.task.splits()["train"]
        for method in self.stage.methods:
            rows = method.rows(rows, self._answered)
        return rows

    def _answered(self, rows: pa.Table) -> pa.Table:
        """Rows with the first teacher's answers, as its deployed form gives them, kept for other stages and runs."""
        folder = self._model_folder(self.stage.spec.teachers[0])
        predictor, inputs = Predictor(folder), self.task.inputs(rows)
        encoded = predictor.encode(inputs)
        assert isinstance(predictor.kind, Text)  # `written.fits`
        width = 1 + predictor.kind.longest

        def ask(block: Sequence[int]) -> Iterable[Said]:
            part = range(block[0], block[-1] + 1)
            ids, types = encoded.ids.stretch(part), encoded.types.stretch(part)
            return ({LOGITS: one} for one in predictor.logits(Rows(ids, types, np.arange(len(ids)), [])))

        shelf = Shelf((digest_of(folder), "answers", predictor.engine), encoded, (LOGITS,), lambda name, lengths: np.full_like(lengths, width), per_token=False)  # fmt: skip
        said = self._kept(shelf, ask, least=True)(range(len(encoded.ids)))
        logits = np.stack([one[LOGITS] for one in said])
        return self.task.answered(rows, predictor.kind.values(logits, encoded, inputs, predictor.labels))

    @cached_property
    def _unlabelled(self) -> list[Input]:
        """Texts that only a teacher has an opinion on: drawn from elsewhere, and copies of the rows with words replaced."""
        train = self.stage.spec.train
        if train is None:
            return []
        found: list[Input] = []
        if train.transfer:
            found, left = drawn(self.task, train, self.seed)
            if left:
                say(f"{self.stage.spec.name}: {left} unlabelled texts are validation or test rows, and are left out")
        return found + (self._copies(train.augment) if train.augment else [])

    def _copies(self, count: int) -> list[Input]:
        rows = self.task.texts_alone(self.task.splits()["train"])
        start = load_folder(self.plan.model_folder, self.task.head)
        masked = masked_model(self.plan.model_folder) if start.tokenizer.mask_token_id is not None else None
        say(f"{self.stage.spec.name}: {count * len(rows)} copies of rows, words replaced by {'a masked-language model' if masked else 'their nearest vectors'}")  # fmt: skip
        candidates = InContext(masked, start.tokenizer) if masked else Nearest(start, self.task.texts(self.task.splits()["train"]))  # fmt: skip
        return list(copies(rows, count, candidates, derive(self.seed, "augment")))

    def _texts(self) -> Iterable[str]:
        yield from self.task.texts(self.task.splits()["train"])
        for given in self._unlabelled:
            yield from texts_in(given)

    def _calibration(self, model: Model, count: int) -> Iterable[Batch]:
        feed = Feed(encode_for(model, self.task, "train"), model, CPU)
        for rows in epoch_batches(feed.lengths, 32, derive(self.seed, "calibration"), 0)[:count]:
            yield feed.batch(rows)

    def _loss(self, model: Model, batch: Batch) -> Tensor:
        return self.task.loss(forward(model.anatomy, batch).logits, batch)

    def _train(self, model: Model, context: Context, features: Features) -> Position:
        settings = self.stage.spec.train
        assert settings is not None  # `_prepare` gives features
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
            write_program(model, folder / "model")  # where the native engine can run it; last, it is tied to the config
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
        """By its engine, and by torch as it loads again: what would not is noticed here, and not by its user."""
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
            "training": training, "engine": predictor.engine, "parity": parity(load_folder(folder / "model"), predictor, self._few(predictor, 16)),
            "spent": self.attempt.window.peek().to_dict(), "niwaki": __version__, "versions": versions(),
        }  # fmt: skip

    def _outcomes(self, predictor: Predictor, part: str) -> np.ndarray:
        table = self.task.splits()[part]
        return self.task.outcomes(predictor.values(self.task.inputs(table)), table)

    def _few(self, predictor: Predictor, count: int) -> Rows:
        return predictor.encode(self.task.inputs(self.task.splits()["test"].slice(0, count)))


@torch.no_grad()
def parity(model: Model, predictor: Predictor, rows: Rows) -> float:
    """Largest difference between the engine's logits and torch's on a few texts: rounding for floats, more for integers. Of what
    is written, between the logarithms of how likely it is."""
    if model.anatomy.writes:
        again = Predictor(predictor.folder, "torch").logits(rows)
        return float(np.abs(again[:, 0] - predictor.logits(rows)[:, 0]).max())
    lean = Lean(model.network.eval(), model.anatomy)
    own = []
    for number, length in enumerate(rows.ids.lengths):
        given = (torch.from_numpy(part[number].astype(np.int64))[None] for part in (rows.ids, rows.types))
        ids, types = given
        own.append(lean(ids, torch.ones(1, int(length)), types).numpy()[0])
    own_logits = np.concatenate(own) if predictor.kind.per_token else np.stack(own)
    return float(np.abs(own_logits - predictor.logits(rows)).max())
