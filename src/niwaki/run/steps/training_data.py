"""The texts that a stage trains on: labelled rows, unlabelled texts, and augmented copies of rows."""

from collections.abc import Iterable
from functools import cached_property, partial

import pyarrow as pa

from niwaki.answers._answer_type import Input
from niwaki.core.log import info
from niwaki.core.seeds import derive
from niwaki.data.batching import epoch_batches
from niwaki.methods._method import SelectsRows, methods_with
from niwaki.models.features import Features
from niwaki.models.forward import Batch
from niwaki.models.input_readers import encoder_of
from niwaki.models.model import Model, load_folder
from niwaki.models.replacing import InContext, Nearest, copies, masked_model
from niwaki.run.steps.job import CPU, StageJob
from niwaki.run.steps.teacher_answers import with_teacher_answers
from niwaki.run.unlabelled_texts import draw_unlabelled
from niwaki.tasks._capabilities import AcceptsUnlabelledTexts
from niwaki.tasks._task import texts_in
from niwaki.train.collator import Collator, encode_rows

CALIBRATION_BATCH = 32


class TrainingData:
    """Rows and texts of one stage. Both are read when they are first used."""

    def __init__(self, job: StageJob) -> None:
        self.job, self.task = job, job.task

    @cached_property
    def labelled(self) -> pa.Table:
        """The labelled training rows, after every method has changed them."""
        rows = self.job.train_rows
        for method in methods_with(self.job.stage.methods, SelectsRows):
            rows = method.rows(rows, partial(with_teacher_answers, self.job))
        return rows

    @cached_property
    def unlabelled(self) -> list[Input]:
        """Texts without labels, which only a teacher can teach on: sampled ones, then augmented copies of the rows."""
        train = self.job.stage.spec.train
        if train is None:
            return []
        texts: list[Input] = []
        if train.unlabelled:
            texts, excluded = draw_unlabelled(self.task, train, self.job.seed)
            if excluded:
                info(f"{self.job.name}: {excluded} unlabelled texts are validation or test rows, and are excluded")
        return texts + (self._augmented(train.augmentations) if train.augmentations else [])

    def _augmented(self, count: int) -> list[Input]:
        train, folder = self.job.train_rows, self.job.plan.model_folder
        rows, start = self.task.inputs(train), load_folder(folder, self.task.head)
        masked = masked_model(folder) if start.tokenizer.mask_token_id is not None else None
        source = "a masked-language model" if masked else "their nearest vectors"
        info(f"{self.job.name}: {count * len(rows)} copies of rows, words replaced by {source}")
        candidates = InContext(masked, start.tokenizer) if masked else Nearest(start, self.task.texts(train))
        return list(copies(rows, count, candidates, derive(self.job.seed, "augment")))

    def features(self, model: Model) -> Features:
        """All training texts in the model's tokens: the labelled rows, then the unlabelled texts."""
        train, limit = self.job.stage.spec.train, min(self.task.max_tokens, model.anatomy.max_tokens)
        labelled = encode_rows(model, self.job.objective, self.labelled) if train is None or train.labelled else None
        if not self.unlabelled:
            return labelled or encode_rows(model, self.job.objective, self.labelled)
        assert isinstance(self.task, AcceptsUnlabelledTexts)  # `validation/unlabelled.py`
        unlabelled = self.task.unlabelled_features(self.unlabelled, encoder_of(model.tokenizer), limit)
        return labelled.joined(unlabelled) if labelled else unlabelled

    def texts(self) -> Iterable[str]:
        """Every text of the stage, for methods that count words or build a vocabulary."""
        yield from self.task.texts(self.job.train_rows)
        for given in self.unlabelled:
            yield from texts_in(given)

    def calibration(self, model: Model, count: int) -> Iterable[Batch]:
        """`count` labelled batches in the model's tokens."""
        collator = Collator(encode_rows(model, self.task, self.job.train_rows), model, CPU)
        seed = derive(self.job.seed, "calibration")
        for rows in epoch_batches(collator.lengths, CALIBRATION_BATCH, seed, 0)[:count]:
            yield collator.batch(rows)
