"""Shows what a model does with one input."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from niwaki.core.errors import InputError, UsageError, first_line

if TYPE_CHECKING:
    from niwaki.answers._answer_type import Input
    from niwaki.engines.predictor import Predictor
    from niwaki.evaluate.looking.result import Look
    from niwaki.evaluate.looking.subject import Subject
    from niwaki.models.model import Model


def look(
    model: str | Path,
    text: "Input",
    *,
    data: str | Path = "",
    top: int = 5,
    word: int = -1,
    columns: Sequence[str] = (),
    stage: str = "",
    head: str = "",
    from_line: bool = False,
) -> "Look":
    """Attention, predictions of each layer, attributions of words, and with `data` the most similar rows of a file. `text` is what the model
    reads: a text, a pair of texts, a list of words. `word` is the tagged word to explain (from 0). With
    `from_line`, a tab in `text` separates the texts of a pair.

    >>> niwaki.look("runs/rotten_tomatoes", "a film to see twice").explained.gradients["words"]
    """
    from niwaki.evaluate.looking.look import look as find
    from niwaki.evaluate.looking.neighbours import Rows

    if top < 1:
        raise UsageError(f"look: top must be 1 or more (given: {top})")
    if data and not Path(data).is_file():
        raise InputError(f"{data}: is not a file; give a file with one text a line, jsonl, csv or tsv")
    predictor, network, reason = opened(model, stage, head)
    text = predictor.answer_type.from_line(str(text)) if from_line else text
    subject = subject_of(predictor, network, reason, text)
    check_word(subject, word)
    return find(subject, Rows(Path(data), tuple(columns)) if data else None, top, word)


def check_word(subject: "Subject", word: int) -> None:
    """Rejects a word that has no tag to explain."""
    if word >= 0 and subject.kind != "tags":
        raise UsageError(
            f"look: word names the tagged word to explain, and the model answers with a {subject.kind}; leave it out"
        )
    if word >= 0 and word >= len(subject.given):
        raise UsageError(f"look: word must be below {len(subject.given)}, the words of the text (given: {word})")


def opened(path: str | Path, stage: str, head: str) -> "tuple[Predictor, Model | None, str]":
    """A model in torch; if its folder has only a graph for another engine, the predictor alone and the reason."""
    from niwaki.answers._images import ImageInputs
    from niwaki.api.loading import load
    from niwaki.engines.cascade import Cascade
    from niwaki.engines.pretrained_head import OtherHead
    from niwaki.models.model import load_folder
    from niwaki.run.model_path import locate_model

    folder = path if stage else locate_model(str(path))
    predictor = load(folder, "", stage=stage, head=head)
    if isinstance(predictor, Cascade):
        raise UsageError(f"{predictor.folder}: is a cascade of several models; look at one of them")
    if isinstance(predictor.answer_type, ImageInputs):
        raise InputError(f"{predictor.folder}: reads images, and look shows what a model does with texts")
    try:
        found = load_folder(predictor.folder, predictor._head if isinstance(predictor, OtherHead) else None)
    except InputError as error:
        return predictor, None, f"the weights cannot be loaded in torch ({first_line(error)})"
    found.network.eval()
    return predictor, found, ""


def subject_of(predictor: "Predictor", model: "Model | None", reason: str, text: "Input") -> "Subject":
    """The input as the model takes it. Of a language model, masks become the tokenizer's own."""
    import re

    from niwaki.answers._fill import BLANK
    from niwaki.answers.likelihood import Likelihood
    from niwaki.evaluate.looking.subject import Subject

    own = predictor.answer_type
    if not isinstance(own, Likelihood):
        return Subject(predictor, model, reason, predictor.check([text])[0], str(own.to_json()["kind"]))
    given = predictor.check([text])[0]
    if not isinstance(given, str):
        raise UsageError("look: a language model reads one text, not a pair; put both into one text")
    if own.scoring == "detection":
        raise UsageError(
            f"{predictor.folder}: scores whether tokens were replaced; take a head that predicts something"
        )
    if own.scoring == "bidirectional":
        raise UsageError(f"{predictor.folder}: is two language models side by side, whose tokens have no single logits")
    if own.scoring == "causal":
        return Subject(predictor, model, reason, given, "next")
    filling = predictor.filling(5)
    mask = predictor.encoder.tokenizer.id_to_token(own.mask_token_id)
    marked = re.sub(BLANK, str(mask), given)
    is_filled = str(mask) in marked
    return Subject(filling if is_filled else predictor, model, reason, marked, "fill" if is_filled else "tokens")
