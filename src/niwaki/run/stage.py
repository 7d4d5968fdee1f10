"""Makes one stage of a plan and commits its folder.

choose ──> load ──> prepare ──> teach ──> train ──> finish ──> publish ──> measure
best of    start    methods     teacher   one loop  methods    save,       quality,
settings   model    reshape     outputs             bake       export      size, parity
"""

import contextlib
import shutil

from niwaki.core.files import commit_folder
from niwaki.models.model import Model
from niwaki.run import processes
from niwaki.run.steps.choose import choose
from niwaki.run.steps.job import StageJob
from niwaki.run.steps.load import load_start_model, require_disk_space
from niwaki.run.steps.measure import measure
from niwaki.run.steps.publish import publish
from niwaki.run.steps.teach import load_teachers, teacher_outputs
from niwaki.run.steps.train import finish, method_context, prepare, train
from niwaki.run.steps.training_data import TrainingData
from niwaki.train.checkpoints import TrainerState


def make_stage(job: StageJob) -> None:
    """An interrupted stage leaves its checkpoints in the work folder; the next call resumes from them."""
    job, choice = choose(job, _compared_model)
    model, state = train_model(job)
    model = finish(job, model)
    with commit_folder(job.target) as folder:
        publish(job, model, folder)
        measure(job, model, folder, state, choice)
    shutil.rmtree(job.work_folder, ignore_errors=True)


def train_model(job: StageJob) -> tuple[Model, TrainerState | None]:
    """The model before the methods finish it. Other processes of the run take part."""
    group = processes.current()
    with group.training(job) if group and group.own == 0 and job.stage.spec.train else contextlib.nullcontext():
        return _trained(job)


def _trained(job: StageJob) -> tuple[Model, TrainerState | None]:
    model = load_start_model(job)
    require_disk_space(job, model)
    data, teachers = TrainingData(job), load_teachers(job)
    context = method_context(job, data, next(iter(teachers.values()), None))
    model = prepare(job, model, context)
    state = None
    if job.stage.spec.train:
        features = data.features(model)
        teacher = teacher_outputs(job, teachers, data, model, features)
        state = train(job, model, features, context, teacher)
    return model, state


def _compared_model(job: StageJob) -> Model:
    """The finished model, because some methods fit the head there."""
    model = finish(job, train_model(job)[0])
    shutil.rmtree(job.work_folder, ignore_errors=True)
    return model
