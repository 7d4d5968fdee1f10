"""Has every teacher learned to answer the task?"""

from collections.abc import Sequence

from niwaki.core.problems import Problems
from niwaki.methods._method import FollowsTeacher, Reshapes, answers_trained, methods_with
from niwaki.models.head import Head
from niwaki.models.model import has_head
from niwaki.run.validation.draft import Draft, ResolvedStage, lineage


def check(draft: Draft, problems: Problems) -> None:
    """Rejects teachers whose head nothing has trained, where a method follows their answers."""
    if not draft.has_rows:
        return
    for stage in draft.stages:
        follows_answers = any(method.follows_answers for method in methods_with(stage.methods, FollowsTeacher))
        for name in stage.spec.teachers if follows_answers else ():
            teacher = lineage(draft.stages, name)
            if not head_is_trained(teacher, draft.task.head):
                problems.add([_problem(draft, stage.name, name, teacher)])


def _problem(draft: Draft, stage: str, name: str, teacher: Sequence[ResolvedStage]) -> str:
    labels = draft.task.labels
    why = f"{teacher[0].source} has no head for the task's {len(labels)} labels ({', '.join(labels[:4])})"
    if any(map(resets_head, teacher)):
        why = "its head is a new one"
    return (
        f"stage '{stage}': its teacher '{name}' would answer by chance: {why}, and nothing trains one; "
        "give that stage a train block for answers, or name a fine-tuned model"
    )


def head_is_trained(stages: Sequence[ResolvedStage], head: Head) -> bool:
    """Whether the last of these stages, each of which starts from the one before, has a trained head."""
    for stage in reversed(stages):
        if any(method.requires.fits_head for method in stage.methods):
            return True
        if stage.spec.train and answers_trained(stage.methods, stage.spec.train.labelled):
            return True
        if resets_head(stage):
            return False
    return has_head(stages[0].source, head)


def resets_head(stage: ResolvedStage) -> bool:
    """Whether a method of the stage gives the model a new head."""
    return any(method.resets_head for method in methods_with(stage.methods, Reshapes))


def answers_task(stages: Sequence[ResolvedStage], head: Head) -> bool:
    """Whether the last of these stages is meant to answer the task, and not only to be trained further."""
    spec, methods = stages[-1].spec, stages[-1].methods
    return (spec.train is None or answers_trained(methods, spec.train.labelled)) and head_is_trained(stages, head)
