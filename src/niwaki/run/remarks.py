"""What a user should know before a run starts: about the rows, and about vocabularies that do not fit them."""

from collections.abc import Iterator

from niwaki.data.image_preprocessor import ImagePreprocessor
from niwaki.run.validation.draft import Draft
from niwaki.tasks._task import Task
from niwaki.tokenization import vocabulary_fit

ROWS = 500  # on which vocabularies are compared with the texts,
TEST_ROWS = 100  # and those of each further test set
CHARACTERS = 2000  # of each text: the comparison takes quadratic time


def remarks(draft: Draft) -> list[str]:
    task = draft.task
    texts = texts_of(task, "train", ROWS)
    further = {part: texts_of(task, part, TEST_ROWS) for part in task.data.tests[1:]}
    return [*task.data.remarks(), *_misfits(draft, texts, further)]


def texts_of(task: Task, part: str, rows: int) -> list[str]:
    """The beginnings of the texts of the first rows."""
    return [text[:CHARACTERS] for text in task.texts(task.splits()[part].slice(0, rows))]


def _misfits(draft: Draft, texts: list[str], further: dict[str, list[str]]) -> Iterator[str]:
    for name, tokenizer in draft.tokenizers.items() if texts else ():
        if isinstance(tokenizer, ImagePreprocessor):
            continue
        found = vocabulary_fit.remark(tokenizer, texts, name) or vocabulary_fit.remark_on_sets(tokenizer, further, name)
        if found:
            yield found
