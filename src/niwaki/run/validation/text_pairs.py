"""Can every start model and every method read the task's number of texts per row?"""

from niwaki.core.errors import InputError
from niwaki.core.problems import Problems
from niwaki.models.skeleton import read_config
from niwaki.run.validation.draft import Draft


def check(draft: Draft, problems: Problems) -> None:
    """A network without layers that was built for single texts would read a pair as one text."""
    if not draft.has_rows:
        return
    task = draft.task
    in_words = task.answer == "tags"  # the words of one text
    single = in_words or len([*task.texts(task.splits()["train"].slice(0, 1))]) == 1
    for folder in dict.fromkeys(stage.source for stage in draft.stages):
        if not single and read_config(folder).get("niwaki_texts") == 1:
            with problems.collecting():
                raise InputError(
                    f"{folder}: was made for single texts, and task '{task.name}' is on several; start from another model"
                )
    for stage in draft.stages if single else ():
        for method in stage.methods:
            if method.requires.pairs:
                with problems.collecting(f"stage '{stage.name}': "):
                    raise InputError(
                        f"{method.label()}: task '{task.name}' is on single texts; leave '{method.label()}' out"
                    )
