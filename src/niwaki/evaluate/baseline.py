"""The simple thing that a transformer must beat: TF-IDF of words and word pairs, and a linear SVM."""

from typing import Any

import numpy as np

from niwaki.evaluate.quality import quality
from niwaki.meter import meter
from niwaki.tasks._task import Task

NAME = "TF-IDF + linear SVM"


def baseline(task: Task) -> dict[str, Any]:
    """Trained on the task's train rows, scored on its test rows, metered like any stage."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    splits = task.splits()
    with meter() as window:
        pipeline = make_pipeline(
            TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True), LinearSVC(C=0.5, random_state=0)
        )
        pipeline.fit(joined(task, "train"), task.targets(splits["train"]))
        predicted = pipeline.predict(joined(task, "test"))
    logits = np.eye(len(task.labels))[predicted]
    return {
        "version": 1,
        "name": NAME,
        "score": quality(task, logits, task.targets(splits["test"])),
        "spent": window.reading.to_dict(),
    }


def joined(task: Task, part: str) -> list[str]:
    return [" ".join(texts) for texts in task.texts(task.splits()[part])]
