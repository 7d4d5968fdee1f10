"""Rows for each form of task."""

import numpy as np

from niwaki.data.image_bytes import encode_array

from .inventory import sentence
from .rows import TEXTS

WORDS = [text.split() for text in TEXTS]
PICTURES = np.random.default_rng(0).integers(0, 256, (len(TEXTS), 7, 5, 3), dtype=np.uint8)
BY_FORM = {
    "classification": [{"text": text, "label": n % 2} for n, text in enumerate(TEXTS)],
    "regression": [{"text": text, "label": n / 7} for n, text in enumerate(TEXTS)],
    "multilabel": [{"text": text, "labels": ["a", "b"][: n % 3]} for n, text in enumerate(TEXTS)],
    "tagging": [{"tokens": words, "tags": (["B-X", "O"] * 9)[: len(words)]} for words in WORDS],
    "question_answering": [
        {"title": f"t{n}", "question": "is it", "context": t, "answers": {"text": [t[:4].strip()], "answer_start": [0]}}
        for n, t in enumerate(TEXTS)
    ],
    "choice": [{"ctx": text, "endings": ["a film", "b"], "label": n % 2} for n, text in enumerate(TEXTS)],
    "senses": [sentence(n) for n in range(len(TEXTS))],
    "roles": [
        {
            "tokens": words,
            "predicates": [0],
            "rolesets": ["be.01"],
            "args": [{"predicate": 0, "start": 1, "end": 2, "label": "ARG1"}],
        }
        for words in WORDS
    ],
    "images": [{"image": encode_array(one).data, "label": "ab"[n % 2]} for n, one in enumerate(PICTURES)],
    "generation": [{"source": text, "target": text.upper(), "en": text, "de": text.upper()} for text in TEXTS],
}
