"""Language models on cloze tasks, without training."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from niwaki.core.errors import UsageError, did_you_mean
from niwaki.core.json_types import Json

if TYPE_CHECKING:
    from niwaki.engines.predictor import Predictor
    from niwaki.evaluate.cloze._cloze import Item
    from niwaki.evaluate.cloze_scores import Scores
    from niwaki.evaluate.looking.subject import Subject

AT_ONCE = 64  # sentences


def cloze(
    models: str | Path | Sequence[str | Path], *, tasks: Sequence[str] = (), items: int = 500, seed: int = 0
) -> Json:
    """The accuracy of one or several language models on cloze tasks with generated sentences, at most so many `items` each.

    >>> niwaki.cloze("bert-base-uncased", tasks=["age_comparison"])["cloze"]
    """
    from niwaki.api.probing import short_names
    from niwaki.evaluate.cloze._cloze import CLOZE
    from niwaki.evaluate.cloze_scores import cloze_scores

    if items < 2:
        raise UsageError(f"cloze: items must be 2 or more (given: {items})")
    for name in tasks:
        if name not in CLOZE:
            raise UsageError(f"cloze: there is no task '{name}'{did_you_mean(name, CLOZE.names())}")
    paths = [str(one) for one in ([models] if isinstance(models, str | Path) else models)]
    if not paths:
        raise UsageError("cloze: name at least one language model")
    scores = {name: scores_of(path) for name, path in zip(short_names(paths), paths, strict=True)}
    return cloze_scores(scores, list(tasks) or CLOZE.names(), items, seed)


def scores_of(path: str | Path) -> "Scores":
    """What scores the choices of a language model."""
    from niwaki.answers.likelihood import ONE_PASS
    from niwaki.api.looking import opened
    from niwaki.engines.pretrained_head import LANGUAGE_MODEL
    from niwaki.evaluate.looking.subject import Subject

    predictor, model, reason = opened(path, "", LANGUAGE_MODEL)
    if predictor.likelihood.scoring in ONE_PASS:
        return lambda items: of_sentences(predictor, items)
    if model is None:
        raise UsageError(f"{path}: {reason}")
    subject = Subject(predictor.filling(1), model, reason, "", "fill")
    return lambda items: np.concatenate(
        [at_masks(subject, items[start : start + AT_ONCE]) for start in range(0, len(items), AT_ONCE)]
    )


def of_sentences(predictor: "Predictor", items: "Sequence[Item]") -> np.ndarray:
    """(items, choices): the log-likelihood of each filled sentence."""
    from niwaki.evaluate.cloze._cloze import BLANK

    texts = [item.text.replace(BLANK, choice) for item in items for choice in item.choices]
    found = [answer.log_likelihood for answer in predictor.predict(texts)]
    return np.array(found).reshape(len(items), -1)


def at_masks(subject: "Subject", items: "Sequence[Item]") -> np.ndarray:
    """(items, choices): the logit of each choice at the mask; -inf for one that is not a single token."""
    from niwaki.answers._fill import Masks
    from niwaki.answers.label import Label
    from niwaki.evaluate.cloze._cloze import BLANK

    encoder = subject.predictor.encoder
    encoded = subject.encode([item.text for item in items])
    found = np.full((len(items), max(len(item.choices) for item in items)), -np.inf)
    for row, (item, logits, note) in enumerate(zip(items, subject.logits_of(encoded), encoded.metadata, strict=True)):
        assert isinstance(note, Masks)
        filled = Label().encode(
            [item.text.replace(BLANK, one) for one in item.choices], encoder.tokenizer, encoder.max_tokens
        )
        at = note.masks[0]
        for number in range(len(item.choices)):
            ids = filled.ids[number].tolist()
            if len(ids) == len(note.ids) and ids[:at] == note.ids[:at] and ids[at + 1 :] == note.ids[at + 1 :]:
                found[row, number] = float(logits[note.places[0], ids[at]])
    return found
