"""The tokenizer of generated texts: that of a seq2seq start model, or one trained on the rows."""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from niwaki.answers import ANSWERS
from niwaki.answers.text import GRAMMAR, TARGET, Text
from niwaki.core.errors import InputError
from niwaki.models.target_tokenizer import TargetTokenizer, load_target_tokenizer
from niwaki.tasks._tables import row_slices
from niwaki.tokenization.training import make

if TYPE_CHECKING:
    from niwaki.tasks.generation import Generation


class TargetVocabulary:
    def __init__(self, task: "Generation") -> None:
        self.task = task
        self.of_model: TargetTokenizer | None = None

    def use_model(self, folder: Path) -> None:
        """Takes the tokenizer of a model that generates already; an encoder has none."""
        self.of_model = load_target_tokenizer(folder)
        if self.of_model is None:
            return
        if self.task.grammar():
            raise InputError(
                f"task '{self.task.name}': its grammar needs a target tokenizer of its own, and {folder} has one already; start from an encoder, with {{ use = 'add_decoder' }}"
            )
        longest, wanted = self.of_model.longest, self.task.max_new_tokens
        if longest is not None and wanted > longest:
            raise InputError(f"data.max_new_tokens: {wanted} is more than the {longest} tokens that {folder} can write")

    @cached_property
    def files(self) -> dict[str, bytes]:
        """Files next to the network: the tokenizer, and the grammar if there is one."""
        if self.of_model is not None:
            return {TARGET: self.of_model.target}
        target = make(self._texts(), self.task.split, self.task.vocab_size).encode()
        grammar = self.task.grammar()
        return {TARGET: target, **({GRAMMAR: grammar} if grammar else {})}

    def answer_type(self) -> Text:
        task = self.task
        kind = ANSWERS.load(task.answer, Text)(
            beam=task.beam,
            length_penalty=task.length_penalty,
            max_new_tokens=task.max_new_tokens,
            grammar=GRAMMAR in self.files,
            **task.answer_settings,
            **(self.of_model.special_tokens if self.of_model is not None else {}),
        )
        return kind.with_files(self.files)

    def _texts(self) -> Iterator[str]:
        """Both sides of the train rows; of images, the answers alone."""
        for part in row_slices(self.task.splits()["train"]):
            yield from self.task.texts(part)
            yield from map(self.task.separate_symbols, self.task.gold(part))
