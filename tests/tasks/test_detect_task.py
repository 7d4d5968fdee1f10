"""Rows to tasks: a named set by its folder, other rows by their columns."""

import numpy as np
import pytest

from niwaki.core.errors import InputError
from niwaki.data.image_bytes import encode_array
from niwaki.tasks import TASKS
from niwaki.tasks._detect_task import recognise
from niwaki.tasks._task import Task

from .rows import TEXTS, csv, folder, jsonl

HOMES = {name: home for name in TASKS.names() if (home := TASKS.load(name, Task).published.folder)}
ROWS = {
    "classification": [{"review": text, "stars": n % 3} for n, text in enumerate(TEXTS)],
    "regression": [{"sentence1": text, "sentence2": text[::-1], "score": n / 7} for n, text in enumerate(TEXTS)],
    "multilabel": [{"text": text, "labels": ["a", "b"][: n % 3]} for n, text in enumerate(TEXTS)],
    "tagging": [{"tokens": text.split(), "tags": ["O"] * len(text.split())} for text in TEXTS],
    "question_answering": [
        {"question": "is it", "context": t, "answers": {"text": [t[:4]], "answer_start": [0]}} for t in TEXTS
    ],
    "choice": [{"ctx": text, "endings": ["a", "b"], "label": n % 2} for n, text in enumerate(TEXTS)],
    "senses": [
        {"tokens": ["the", text], "lemmas": ["the", text], "pos": ["DET", "NOUN"], "sense_keys": [None, ["a%1::"]]}
        for text in TEXTS
    ],
}


@pytest.mark.parametrize("kind", ROWS)
def test_own_rows_by_their_columns(tmp_path, kind):
    assert recognise(jsonl(tmp_path / "mine.jsonl", ROWS[kind]), {}) == kind
    assert recognise(folder(tmp_path / "mine", train=ROWS[kind], test=ROWS[kind][:9]), {}) == kind


def test_images_by_their_files_or_columns(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (4, 6, 5, 3), dtype=np.uint8)
    np.savez(tmp_path / "rows.npz", images=pixels, labels=np.arange(4))
    (tmp_path / "photos/cat").mkdir(parents=True)
    (tmp_path / "photos/cat/1.png").write_bytes(encode_array(pixels[0]).data)
    cells = [{"image": {"bytes": encode_array(one).data, "path": "x"}, "label": 1} for one in pixels]
    for source in (tmp_path / "rows.npz", tmp_path / "photos", folder(tmp_path / "table", train=cells)):
        assert recognise(str(source), {}) == "image_classification"


@pytest.mark.parametrize("name", HOMES)
def test_a_folder_of_a_named_task_by_its_name(tmp_path, monkeypatch, name):
    path = folder(tmp_path / HOMES[name], train=ROWS["classification"])
    assert recognise(path, {}) == name
    monkeypatch.chdir(path)
    assert recognise(".", {}) == name
    assert recognise(f"{path}/train.parquet", {}) == "classification"  # a file is the user's own


def test_no_two_tasks_share_a_folder():
    assert len(set(HOMES.values())) == len(HOMES) >= 14


def test_a_folder_of_several_tasks_requests_which(tmp_path):
    for name in ("cola", "sst2"):
        folder(tmp_path / name, train=ROWS["classification"])
    with pytest.raises(InputError, match=r"holds rows of several tasks \(cola, sst2\); say which: --set task=cola"):
        recognise(str(tmp_path), {})


def test_rows_of_several_readings_are_rejected_until_one_is_named(tmp_path):
    lines = [f"{text},{n % 2},{n % 3}" for n, text in enumerate(TEXTS)]
    path = csv(tmp_path / "mine.csv", "words predicted,first kind,second kind", lines)
    with pytest.raises(InputError, match="the label could be 'first kind' or 'second kind'"):
        recognise(path, {})
    assert recognise(path, {"label": "second kind"}) == "classification"


def test_what_is_not_there(tmp_path):
    with pytest.raises(InputError, match="is not there"):
        recognise(str(tmp_path / "no.csv"), {})
