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
from niwaki.answers._answer_type import EncodedInputs, Input
from niwaki.answers.text import Text
from niwaki.core.files import commit_folder, require_space, write_json
from niwaki.core.log import info
from niwaki.core.seeds import derive
from niwaki.data.batching import epoch_batches
from niwaki.engines.activation_runner import ActivationRunner
from niwaki.engines.export import write_graph
from niwaki.engines.native.program_file import write_program
from niwaki.engines.predictor import Predictor
from niwaki.evaluate.footprint import footprint
from niwaki.evaluate.quality import quality
from niwaki.meter.ledger import Attempt
from niwaki.methods._method import Context
from niwaki.models.activations import LOGITS, numbers
from niwaki.models.export_modules import ForwardModule
from niwaki.models.forward import Batch, Outputs, forward
from niwaki.models.head import Head
from niwaki.models.model import CONFIG, Model, config_of, load_folder
from niwaki.models.replacing import InContext, Nearest, copies, masked_model
from niwaki.run.plan import Plan, PlannedStage, model_digest, versions
from niwaki.run.same_tokens import check_same_tokens
from niwaki.run.unlabelled_texts import cache_folder, draw_unlabelled
from niwaki.tasks._task import Features, Task, texts_in
from niwaki.train.checkpoints import TrainerState
from niwaki.train.collator import Collator, encode_rows, encode_split
from niwaki.train.loop import Interrupted, Job, fit
from niwaki.train.teacher import (
    CachedTeacherFunction,
    CacheLayout,
    Teacher,
    TeacherFunction,
    TeacherOutput,
    batched_teacher_function,
    ensemble,
    memoize_last_batch,
    uncached_teacher,
)
from niwaki.train.teacher_cache import TeacherCache

EXAMPLE_STATS = "example_stats.npy"  # of each test row, the numbers that the scores are made of
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
        state = self._train(model, context, train) if train else None
        for method in self.stage.methods:
            model = method.finish(model)
        self._save(model, state)
        shutil.rmtree(self.work, ignore_errors=True)

    def _start(self) -> Model:
        parent = self.stage.parent
        return self._stage_model(parent) if parent else self._loaded(self.stage.source, self.task.head)

    def _stage_model(self, stage: str) -> Model:
        """What an earlier stage made; of "", the recipe's model with a head for the task."""
        return (
            self._loaded(self._model_folder(stage)) if stage else self._loaded(self.plan.model_folder, self.task.head)
        )

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
        asked = frozenset().union(*(method.teacher_activations(model, teachers[0]) for method in self.stage.methods))
        answering = [
            self._teacher(one, folder, asked, features, model) for one, folder in zip(teachers, folders, strict=True)
        ]
        return model, self._context(memoize_last_batch(ensemble(answering)), teachers[0]), features

    def _context(self, teacher: Callable[[Batch], Outputs] | None, teacher_model: Model | None) -> Context:
        return Context(
            self.seed,
            teacher,
            teacher_model,
            self._calibration,
            self._loss,
            self.task.soft_loss,
            self._texts,
            self._stage_model,
        )

    def _teacher(
        self, model: Model, folder: Path, asked: frozenset[str], features: Features, student: Model
    ) -> Callable[[Batch], Outputs]:
        """Where only logits are wanted they come from batches; layers from each text alone, kept where the disk may hold them. What was
        said of layers in an earlier stage had the logits with it: then they are taken from there."""
        model.network.to(self.device).eval().requires_grad_(False)
        collator = Collator(self._features(model), model, self.device)
        if asked or self.task.answer_type.per_token:
            check_same_tokens(self.stage.spec.name, features.rows, collator.features.rows, student, model, bool(asked))
        if model.anatomy.is_seq2seq or (asked and self.device.type != "cpu"):
            return uncached_teacher(model, collator, asked, self.stage.precision)
        names = (LOGITS, *sorted(asked))
        alone = bool(asked) or (self.stage.teacher_cached and self.device.type == "cpu")
        teacher_function = (
            self._alone(model, collator, asked)
            if alone
            else batched_teacher_function(model, collator, self.stage.precision)
        )
        who = model_digest(folder), "alone" if alone else self.stage.precision
        layout = CacheLayout(
            who, collator.features.rows, names, partial(numbers, model.anatomy), model.anatomy.per_token
        )
        return Teacher(
            collator, names, model.anatomy.per_token, self._cached(layout, teacher_function, least=not asked)
        )

    def _alone(self, model: Model, collator: Collator, asked: frozenset[str]) -> TeacherFunction:
        alone, rows = ActivationRunner(model, asked, torch.get_num_threads()), collator.features.rows
        return lambda sequences: alone((rows.ids[one], rows.types[one]) for one in sequences)

    def _cached(self, layout: CacheLayout, teacher_function: TeacherFunction, least: bool) -> TeacherFunction:
        """`teacher_function`, or what it said before; the disk that this takes is worked out first. What is the `least` that can be said, answers
        alone, is kept whatever the cache may hold."""
        settings, label = self.plan.recipe.cache, f"{self.stage.spec.name}: teacher"
        place, need = cache_folder(settings, self.run_folder), sum(layout.bytes.values())
        cache = TeacherCache(place, max(int(settings.gigabytes * 1e9), need if least else 0))
        if not cache.make_room(layout.bytes) and not least:
            info(
                f"{label}: what it says of {len(layout.lengths)} texts would take {need / 1e9:.1f} GB (cache.gigabytes is "
                f"{settings.gigabytes:g}), so it is asked anew at every step; the weights will be the same"
            )
            return teacher_function
        info(f"{label}: reads {len(layout.lengths)} texts, unless it has before; takes {need / 1e9:.2g} GB in {place}")
        where = place if place.exists() else self.run_folder
        require_space(where, cache.missing(layout.bytes), f"stage '{self.stage.spec.name}', its teacher")
        return CachedTeacherFunction(cache, layout, teacher_function, label, self._pause)

    def _pause(self) -> None:
        if self._tick():
            raise Interrupted

    def _features(self, model: Model) -> Features:
        """Training rows in the model's tokens, with the unlabelled ones behind."""
        train, limit = self.stage.spec.train, min(self.task.max_tokens, model.anatomy.max_tokens)
        labelled = encode_rows(model, self.task, self._rows) if train is None or train.labelled else None
        if not self._unlabelled:
            return labelled or encode_rows(model, self.task, self._rows)
        others = self.task.unlabelled_features(self._unlabelled, model.tokenizer.backend_tokenizer, limit)
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
        assert isinstance(predictor.answer_type, Text)  # `written.fits`
        width = 1 + predictor.answer_type.max_new_tokens

        def teacher_function(block: Sequence[int]) -> Iterable[TeacherOutput]:
            part = range(block[0], block[-1] + 1)
            ids, types = encoded.ids.stretch(part), encoded.types.stretch(part)
            return ({LOGITS: one} for one in predictor.logits(EncodedInputs(ids, types, np.arange(len(ids)), [])))

        layout = CacheLayout(
            (model_digest(folder), "answers", predictor.engine),
            encoded,
            (LOGITS,),
            lambda name, lengths: np.full_like(lengths, width),
            per_token=False,
        )
        said = self._cached(layout, teacher_function, least=True)(range(len(encoded.ids)))
        logits = np.stack([one[LOGITS] for one in said])
        return self.task.with_answers(rows, predictor.answer_type.values(logits, encoded, inputs, predictor.labels))

    @cached_property
    def _unlabelled(self) -> list[Input]:
        """Texts that only a teacher has an opinion on: drawn from elsewhere, and copies of the rows with words replaced."""
        train = self.stage.spec.train
        if train is None:
            return []
        found: list[Input] = []
        if train.unlabelled:
            found, left = draw_unlabelled(self.task, train, self.seed)
            if left:
                info(f"{self.stage.spec.name}: {left} unlabelled texts are validation or test rows, and are left out")
        return found + (self._copies(train.augmentations) if train.augmentations else [])

    def _copies(self, count: int) -> list[Input]:
        rows = self.task.augmentable_inputs(self.task.splits()["train"])
        start = load_folder(self.plan.model_folder, self.task.head)
        masked = masked_model(self.plan.model_folder) if start.tokenizer.mask_token_id is not None else None
        info(
            f"{self.stage.spec.name}: {count * len(rows)} copies of rows, words replaced by {'a masked-language model' if masked else 'their nearest vectors'}"
        )
        candidates = (
            InContext(masked, start.tokenizer)
            if masked
            else Nearest(start, self.task.texts(self.task.splits()["train"]))
        )
        return list(copies(rows, count, candidates, derive(self.seed, "augment")))

    def _texts(self) -> Iterable[str]:
        yield from self.task.texts(self.task.splits()["train"])
        for given in self._unlabelled:
            yield from texts_in(given)

    def _calibration(self, model: Model, count: int) -> Iterable[Batch]:
        collator = Collator(encode_split(model, self.task, "train"), model, CPU)
        for rows in epoch_batches(collator.lengths, 32, derive(self.seed, "calibration"), 0)[:count]:
            yield collator.batch(rows)

    def _loss(self, model: Model, batch: Batch) -> Tensor:
        return self.task.loss(forward(model.anatomy, batch).logits, batch)

    def _train(self, model: Model, context: Context, features: Features) -> TrainerState:
        settings = self.stage.spec.train
        assert settings is not None  # `_prepare` gives features
        train = Collator(features, model, self.device)
        validation = Collator(encode_split(model, self.task, "validation"), model, self.device)
        return fit(
            Job(
                self.stage.spec.name,
                model,
                self.stage.methods,
                context,
                self.task,
                train,
                validation,
                settings,
                self.stage.precision,
                derive(self.seed, "train"),
                self.work,
                self._tick,
            )
        )

    def _tick(self) -> bool:
        self.attempt.beat()
        return self.should_stop()

    def _save(self, model: Model, state: TrainerState | None) -> None:
        """Saves, then measures what was saved, as its user would run it."""
        with commit_folder(self.run_folder / self.stage.folder) as folder:
            (folder / "model").mkdir()
            model.save(folder / "model")
            write_graph(model, folder / "model")
            if state is not None:
                shutil.copy(self.work / "train.jsonl", folder / "train.jsonl")
            self._tune_threshold(model, folder / "model")
            write_program(model, folder / "model")  # where the native engine can run it; last, it is tied to the config
            write_json(folder / "result.json", self._measure(model, folder, state))

    def _tune_threshold(self, model: Model, folder: Path) -> None:
        """What is chosen on the validation rows, such as a threshold, is chosen for the artifact and kept in its config."""
        table = self.task.splits()["validation"]
        if type(self.task).tuned is Task.tuned:
            return
        predictor = Predictor(folder)
        rows = predictor.encode(self.task.inputs(table))
        kind = self.task.tuned(predictor.logits(rows), rows, table)
        model.network.config.niwaki_answer = kind.to_json()
        write_json(folder / CONFIG, config_of(model.network))

    def _measure(self, model: Model, folder: Path, state: TrainerState | None) -> dict[str, Any]:
        """By its engine, and by torch as it loads again: what would not is noticed here, and not by its user."""
        predictor = Predictor(folder / "model")
        example_stats = {part: self._example_stats(predictor, part) for part in self.task.tests}
        np.save(folder / EXAMPLE_STATS, example_stats["test"], allow_pickle=False)
        scores = {part: quality(self.task, found, self.seed) for part, found in example_stats.items()}
        score = scores.pop("test")
        info(
            f"{self.stage.spec.name}: {score['metric']} {score['value']:.4f} ({score['low']:.3f} to {score['high']:.3f})"
        )
        training = None
        if state is not None:
            training = {"steps": state.step, "best_step": state.best_step, "best_score": state.best_score}
        return {
            "version": 1,
            "stage": self.stage.spec.name,
            "key": self.stage.key,
            "score": score,
            "parts": scores,
            **footprint(model, folder / "model", round(float(np.mean(self._few(predictor, 256).ids.lengths)))),
            "training": training,
            "engine": predictor.engine,
            "parity": parity(load_folder(folder / "model"), predictor, self._few(predictor, 16)),
            "spent": self.attempt.window.peek().to_dict(),
            "niwaki": __version__,
            "versions": versions(),
        }

    def _example_stats(self, predictor: Predictor, part: str) -> np.ndarray:
        table = self.task.splits()[part]
        return self.task.example_stats(predictor.values(self.task.inputs(table)), table)

    def _few(self, predictor: Predictor, count: int) -> EncodedInputs:
        return predictor.encode(self.task.inputs(self.task.splits()["test"].slice(0, count)))


@torch.no_grad()
def parity(model: Model, predictor: Predictor, rows: EncodedInputs) -> float:
    """Largest difference between the engine's logits and torch's on a few texts: rounding for floats, more for integers. Of what
    is written, between the logarithms of how likely it is."""
    if model.anatomy.is_seq2seq:
        again = Predictor(predictor.folder, "torch").logits(rows)
        return float(np.abs(again[:, 0] - predictor.logits(rows)[:, 0]).max())
    lean = ForwardModule(model.network.eval(), model.anatomy)
    own = []
    for number, length in enumerate(rows.ids.lengths):
        given = (torch.from_numpy(part[number].astype(np.int64))[None] for part in (rows.ids, rows.types))
        ids, types = given
        own.append(lean(ids, torch.ones(1, int(length)), types).numpy()[0])
    own_logits = np.concatenate(own) if predictor.answer_type.per_token else np.stack(own)
    return float(np.abs(own_logits - predictor.logits(rows)).max())
