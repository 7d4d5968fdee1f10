"""What one model does with one input, part by part. What cannot be shown is named with the reason."""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from niwaki.answers._answer_type import softmax
from niwaki.answers._capabilities import HasConfidence, ReducesLogits
from niwaki.core.json_types import Json
from niwaki.core.log import progress
from niwaki.evaluate.looking.neighbours import Rows, pooled_by
from niwaki.evaluate.looking.one_input import TEXT_TO_TEXT
from niwaki.evaluate.looking.result import Explained, Look
from niwaki.evaluate.looking.subject import Subject
from niwaki.evaluate.looking.words import agreement, explained, gradients, occlusion

ATTENTION, LAYERS, GRADIENTS, OCCLUSION = "attention", "layers", "integrated_gradients", "occlusion"
NEIGHBOURS, MASKS = "neighbours", "masks"
MOST_SEQUENCES = 64
LANGUAGE_MODELS = ("fill", "next", "tokens")


def look(subject: Subject, rows: Rows | None = None, top: int = 5, word: int = -1) -> Look:
    """All parts. `rows` are those among which neighbours are searched, `word` is the tagged word to explain."""
    reading = subject.reading
    found = Look(str(subject.predictor.folder), subject.kind, subject.given, reading)
    found.engine = subject.predictor.engine
    steps: list[Callable[[], None]] = [
        lambda: _answer(subject, found),
        lambda: _attention(subject, found),
        lambda: _words(subject, found, word),
        lambda: _layers(subject, found),
        lambda: _neighbours(subject, found, rows, top),
    ]
    with progress("look", len(steps)) as update:
        for number, step in enumerate(steps):
            step()
            update(number + 1, "")
    return found


def _answer(subject: Subject, found: Look) -> None:
    if subject.kind in ("next", "tokens"):
        found.answer = str(predicted(subject, subject.logits)["answer"])
        return
    (answer,) = subject.predictor.predict([subject.given])
    found.answer, found.record = str(answer), answer.record()
    if subject.kind == "fill":
        found.masks = answer.record()["masks"]


def _attention(subject: Subject, found: Look) -> None:
    reason = subject.no_model if subject.model is None else subject.one.no_attention
    if reason:
        found.not_shown[ATTENTION] = reason
        return
    found.attention = [layer.float().numpy() for layer in subject.one.attention()]
    if not found.attention:
        found.not_shown[ATTENTION] = "layers attend to groups of tokens, not to single ones"


def _words(subject: Subject, found: Look, word: int) -> None:
    reason = subject.no_logits
    target = None if reason else explained(subject, word)
    if target is None:
        why = reason or no_target(subject)
        found.not_shown |= {GRADIENTS: why, OCCLUSION: why}
        return
    note = subject.reading.note
    value = float(target(subject.logits[subject.sequence], note))
    found.explained = Explained(target.what, value, lambda logits: float(target(logits, note)))
    found.explained.gradients, why = gradients(subject, target)
    if why:
        found.not_shown[GRADIENTS] = why
    found.explained.occlusion, why = occlusion(subject, target)
    if why:
        found.not_shown[OCCLUSION] = why
    found.explained.agreement = agreement(found.explained.gradients, found.explained.occlusion)


def no_target(subject: Subject) -> str:
    if subject.kind == "tokens":
        return "a masked language model predicts at masks; write ___ where a word is missing"
    if subject.kind == "span":
        return "the model finds no answer in the text"
    return f"an answer of type '{subject.kind}' has no single number to explain"


def _layers(subject: Subject, found: Look) -> None:
    reason = subject.no_model if subject.model is None else subject.one.no_layer_logits
    count = len(subject.encoded.ids)
    if not reason and count > MOST_SEQUENCES:
        reason = f"the input makes {count} sequences, more than {MOST_SEQUENCES}"
    if not reason and subject.kind == "embedding":
        reason = "the model gives embeddings; only a head on top of it predicts something"
    if reason:
        found.not_shown[LAYERS] = reason
        return
    by_sequence = [subject.one_input(sequence).layer_logits() for sequence in range(count)]
    for depth, logits in enumerate(zip(*by_sequence, strict=True)):
        row: Json = {"layer": depth, **predicted(subject, list(logits))}
        if found.explained is not None:
            row["target"] = found.explained.read(logits[subject.sequence])
        found.layers.append(row)


def predicted(subject: Subject, logits: list[Tensor]) -> Json:
    """An answer and its confidence, from the logits of all sequences."""
    if subject.kind in ("next", "tokens"):
        tokens = likeliest_tokens(subject, logits[0])
        answer = tokens[-1][0] if subject.kind == "next" else " ".join(token for token, _ in tokens)
        sure: float | None = tokens[-1][1] if subject.kind == "next" else float(np.mean([share for _, share in tokens]))
        return {"answer": answer, "confidence": sure, "tokens": [{"token": a, "probability": b} for a, b in tokens]}
    kind, encoded = subject.predictor.answer_type, subject.encoded
    rows = (torch.cat(logits) if kind.per_token else torch.stack(logits)).float().numpy()
    if isinstance(kind, ReducesLogits):
        rows = kind.reduce(rows, encoded, np.arange(len(encoded.ids)))
    (answer,) = subject.predictor.decode_answers(rows, encoded, [subject.given])
    record = answer.record()
    if subject.kind == "fill":
        return {"answer": str(answer), "confidence": record["masks"][0][0]["probability"]}
    inputs = [subject.given]
    own = float(kind.confidence(rows, encoded, inputs, subject.labels)[0]) if isinstance(kind, HasConfidence) else None
    return {"answer": str(answer), "confidence": own, "record": record}


def likeliest_tokens(subject: Subject, logits: Tensor) -> list[tuple[str, float]]:
    """At each place of a text, the token with the highest logit and its probability."""
    shares = softmax(logits.float().numpy())
    return [(subject.name(int(row.argmax())), float(row.max())) for row in shares]


def _neighbours(subject: Subject, found: Look, rows: Rows | None, top: int) -> None:
    if rows is None:
        found.not_shown[NEIGHBOURS] = "no rows were given; name a file with --data"
        return
    if subject.model is not None and subject.model.anatomy.is_seq2seq:
        found.not_shown[NEIGHBOURS] = TEXT_TO_TEXT
        return
    if subject.model is None or subject.kind in LANGUAGE_MODELS:
        found.not_shown[NEIGHBOURS] = (
            subject.no_model or "a language model has no vector of a text; take --head embedding"
        )
        return
    target = pooled_by(subject.model)(subject.encoded)[subject.sequence : subject.sequence + 1]
    nearest = rows.nearest(subject.predictor, subject.model, target, top)
    answers = subject.predictor.predict([one.given for one in nearest])
    found.neighbours = [
        {"line": one.line, "similarity": one.similarity, "text": one.given, "label": one.label, "answer": str(answer)}
        for one, answer in zip(nearest, answers, strict=True)
    ]
