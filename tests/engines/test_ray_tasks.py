"""Prediction on Ray: the same file as without it. Fast tests replace the package by one that runs tasks in another order, in this process."""

import json
import os
import pickle
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import tiny
from engines.kinds import saved
from niwaki.api import predict_file
from niwaki.api.prediction import compute_on
from niwaki.core.errors import InputError, NiwakiError, UsageError
from niwaki.core.extras import MissingPackage
from niwaki.engines import ray_tasks, stream

ROWS = 83


class FakeRay:
    """Runs all tasks that wait as soon as one is needed, the last first, with arguments that went through pickle."""

    def __init__(self):
        self.initialized, self.tasks, self.most = False, [], 0

    def is_initialized(self):
        return self.initialized

    def init(self, **settings):
        self.initialized = True

    def shutdown(self):
        self.initialized = False

    def cluster_resources(self):
        return {"CPU": 2.0}

    def remote(self, **settings):
        assert settings["num_cpus"] == 1 and settings["max_retries"] > 0

        def wrap(function):
            def start(*arguments):
                self.tasks.append([pickle.dumps((function, arguments)), None])
                self.most = max(self.most, sum(task[1] is None for task in self.tasks))
                return self.tasks[-1]

            class Remote:
                remote = staticmethod(start)

            return Remote

        return wrap

    def get(self, reference):
        for task in reversed(self.tasks):
            if task[1] is None:
                function, arguments = pickle.loads(task[0])
                task[1] = pickle.dumps(function(*arguments))
        return pickle.loads(reference[1])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return saved(tiny.model("averaging", seed=2), tmp_path_factory.mktemp("ray") / "model")


@pytest.fixture
def rows(tmp_path, monkeypatch):
    monkeypatch.setattr(stream, "BATCH", 7)
    words = [f"film {'very ' * (number % 5)}good" for number in range(ROWS)]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps({"id": number, "text": text}) + "\n" for number, text in enumerate(words)))
    return path


@pytest.fixture
def ray(monkeypatch):
    found = FakeRay()
    monkeypatch.setattr(ray_tasks, "package", lambda: found)
    return found


def test_each_row_is_answered_once_in_order_as_without_ray(folder, rows, tmp_path, ray):
    done = predict_file(folder, rows, tmp_path / "ray.jsonl", on="ray", engine="onnx")
    predict_file(folder, rows, tmp_path / "here.jsonl", engine="onnx")
    assert (tmp_path / "ray.jsonl").read_bytes() == (tmp_path / "here.jsonl").read_bytes()
    assert done["inputs"] == ROWS and len(ray.tasks) == 12 and 1 < ray.most <= 4 and not ray.initialized


def test_a_failed_cluster_keeps_what_was_answered_and_the_same_call_resumes(folder, rows, tmp_path, ray):
    class Lost(Exception):
        __module__ = "ray.exceptions"

    out, get = tmp_path / "ray.jsonl", ray.get
    ray.get = lambda reference: (
        get(reference) if len(ray.tasks) < 9 else (_ for _ in ()).throw(Lost("all nodes died\nmore"))
    )
    with pytest.raises(NiwakiError, match="--on ray: all nodes died; what was answered is kept"):
        predict_file(folder, rows, out, on="ray", engine="onnx")
    assert not out.exists() and not ray.initialized
    ray.get = get
    done = predict_file(folder, rows, out, on="ray", engine="onnx")
    assert 0 < done["before"] < ROWS
    assert [json.loads(line)["id"] for line in out.read_text().splitlines()] == list(range(ROWS))


def test_what_ray_does_not_run_is_rejected(folder, rows, tmp_path, ray, monkeypatch):
    class Cascade(ray_tasks.Predictor):
        pass

    with pytest.raises(InputError, match=r"--on ray: runs single models, and .* is a cascade"):
        next(ray_tasks.answered_on_ray(Cascade(folder, "onnx"), iter(())))
    with pytest.raises(UsageError, match="--on is 'dask', and must be 'ray' or left out"):
        compute_on("dask")


@pytest.mark.skipif(find_spec("ray") is not None, reason="ray is installed")
def test_a_missing_package_is_named_before_anything_is_written(folder, rows, tmp_path):
    with pytest.raises(MissingPackage, match=r'needs ray, which is not installed; pip install "niwaki\[ray\]"'):
        predict_file(folder, rows, tmp_path / "out.jsonl", on="ray")
    assert [path.name for path in tmp_path.iterdir()] == ["rows.jsonl"]


KILLS = """
import os, random, signal, sys
from pathlib import Path
from niwaki.engines import ray_tasks, stream
answer = ray_tasks.answer
marks = Path(sys.argv[4])
def dying(folder, engine, inputs, encoded):
    for number in range(10):
        try:
            (marks / str(number)).mkdir() if random.random() < 0.3 else None
        except FileExistsError:
            continue
        break
    if (marks / str(number)).exists() and not (marks / f"{number}.done").exists():
        (marks / f"{number}.done").mkdir()
        os.kill(os.getpid(), signal.SIGKILL)
    return answer(folder, engine, inputs, encoded)
ray_tasks.answer = dying
stream.predict_file(__import__("niwaki").load(sys.argv[1], "onnx"), Path(sys.argv[2]), Path(sys.argv[3]), compute=ray_tasks.answered_on_ray)
"""


@pytest.mark.slow
@pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed")
def test_killed_workers_of_a_real_cluster_lose_no_row(folder, rows, tmp_path):
    (tmp_path / "marks").mkdir()
    predict_file(folder, rows, tmp_path / "here.jsonl", engine="onnx")
    script = "from niwaki.engines import stream as s; s.BATCH = 7\n" + KILLS
    arguments = [folder, rows, tmp_path / "ray.jsonl", tmp_path / "marks"]
    source = Path(__file__).parents[2] / "src"
    subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        check=True,
        timeout=300,
        env=os.environ | {"PYTHONPATH": str(source)},
    )
    assert list((tmp_path / "marks").glob("*.done")), "no worker was killed"
    assert (tmp_path / "ray.jsonl").read_bytes() == (tmp_path / "here.jsonl").read_bytes()
