"""Can every start model read the task's number of texts per row?"""

from niwaki.core.errors import InputError
from niwaki.core.problems import Problems
from niwaki.models.skeleton import read_config
from niwaki.run.validation.draft import Draft


def check(draft: Draft, problems: Problems) -> None:
    """A network without layers that was built for single texts would read a pair as one text."""
    if not draft.has_rows:
        return
    task = draft.task
    single = len([*task.texts(task.splits()["train"].slice(0, 1))]) == 1
    for folder in dict.fromkeys(stage.source for stage in draft.stages):
        if not single and read_config(folder).get("niwaki_texts") == 1:
            with problems.collecting():
                raise InputError(
                    f"{folder}: was made for single texts, and task '{task.name}' is on several; start from another model"
                )
