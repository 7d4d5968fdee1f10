"""A model that writes, from a recipe to an answer: taught, cut, packed, loaded again."""

import json
import random
import shutil

import pytest

import tiny
from niwaki import api
from niwaki.core.errors import InputError
from niwaki.core.files import read_json
from niwaki.engines.predictor import Predictor
from niwaki.evaluate import quality
from niwaki.run.plan import make_plan
from niwaki.run.recipe import parse
from niwaki.run.runner import execute

DECODER = {
    "use": "add_decoder",
    "encoder": "fresh",
    "layers": 1,
    "depth": 1,
    "hidden": 32,
    "heads": 4,
    "ffn_size": 64,
    "shared": True,
}
TRAIN = {"epochs": 14, "lr": 4e-3, "batch": 32, "dropout": 0.0, "precision": "fp32"}


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    """Two or three words to be written in capitals, the last first."""
    draw = random.Random(0)
    rows = {tuple(draw.choice(tiny.PLAIN[:9]) for _ in range(draw.randint(2, 3))) for _ in range(1500)}
    path = tmp_path_factory.mktemp("pairs") / "pairs.jsonl"
    lines = [{"source": " ".join(row), "target": " ".join(reversed(row)).upper()} for row in sorted(rows)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def recipe(pairs, bert_folder, stages):
    data = {"path": str(pairs), "split": "words", "max_new_tokens": 8, "beam": 2, "label_smoothing": 0.0}
    return parse({"model": str(bert_folder), "task": "generation", "data": data, "quantize": [], "stages": stages})


@pytest.fixture(scope="module")
def finished_run(pairs, bert_folder, tmp_path_factory):
    stages = [
        {"name": "teacher", "methods": [DECODER], "train": TRAIN},
        {
            "name": "student",
            "teacher": "teacher",
            "methods": [{"use": "sequence_kd"}, {"use": "logits"}],
            "train": {**TRAIN, "epochs": 1},
        },
        {"name": "int8", "methods": [{"use": "int8"}]},
    ]
    folder = tmp_path_factory.mktemp("runs") / "generation"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quality, "RESAMPLES", 10)
        patch.setattr("os.fsync", lambda handle: None)
        execute(recipe(pairs, bert_folder, stages), "generation", folder)
    return folder


def stage(finished_run, name):
    return next((finished_run / "stages").glob(f"{name}-*"))


def test_it_learns_and_its_students_go_on(finished_run):
    scores = {name: read_json(stage(finished_run, name) / "result.json") for name in ("teacher", "student", "int8")}
    assert all(result["score"]["value"] > 0.8 for result in scores.values())
    assert scores["int8"]["bytes"] < 0.6 * scores["teacher"]["bytes"] and scores["int8"]["engine"] == "onnx"
    assert scores["teacher"]["parity"] < 1e-4


def test_a_new_text_is_answered_by_every_engine(finished_run):
    for name in ("teacher", "int8"):
        found = {
            engine: api.load(stage(finished_run, name) / "model", engine=engine).predict(["film the", "a plot a"])
            for engine in ("onnx", "torch")
        }
        for answers in found.values():
            assert [answer.text for answer in answers] == ["THE FILM", "A PLOT A"]
            assert all(0.3 < answer.probability <= 1 for answer in answers)


def test_generated_targets_are_cached(finished_run):
    assert list((finished_run.parent / ".teachers").glob("*/*/numbers.safetensors"))


def test_alone_and_in_company_the_answer_is_the_same(finished_run):
    predictor = Predictor(stage(finished_run, "teacher") / "model")
    texts = ["film the", "the a movie", "plot plot", "actor a"]
    together = predictor.predict(texts)
    alone = [predictor.predict([text])[0] for text in texts]
    assert [one.text for one in together] == [one.text for one in alone]
    assert max(abs(a.probability - b.probability) for a, b in zip(together, alone, strict=True)) < 1e-4


@pytest.mark.parametrize("name", ["target.json", "decoder.onnx", "encoder.onnx"])
def test_a_folder_without_its_files_is_rejected(finished_run, name, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(stage(finished_run, "teacher") / "model", folder)
    (folder / name).unlink()
    with pytest.raises(InputError, match=name if name == "target.json" else "model.onnx"):
        Predictor(folder, "onnx").predict(["film the"])


def test_an_encoder_without_a_decoder_is_rejected(pairs, bert_folder):
    with pytest.raises(InputError, match="stage 'teacher': task 'generation' needs a decoder, and the model has none"):
        make_plan(recipe(pairs, bert_folder, [{"name": "teacher", "train": TRAIN}]), "plan")


def test_one_stack_learns_to_read_and_write(pairs, bert_folder, tmp_path, monkeypatch, quick_disk):
    monkeypatch.setattr(quality, "RESAMPLES", 10)
    stack = {
        "use": "add_decoder",
        "encoder": "fresh",
        "layers": 0,
        "depth": 2,
        "hidden": 64,
        "heads": 4,
        "ffn_size": 128,
    }
    stages = [
        {"name": "teacher", "methods": [stack], "train": {**TRAIN, "epochs": 20}},
        {"name": "int8", "methods": [{"use": "int8"}]},
    ]
    execute(recipe(pairs, bert_folder, stages), "generation", tmp_path / "generation")
    for name in ("teacher", "int8"):
        result = read_json(stage(tmp_path / "generation", name) / "result.json")
        assert result["score"]["value"] > 0.8 and result["engine"] == "onnx"


def test_a_decoder_that_is_compared_is_cut_before_and_not_after(pairs, bert_folder):
    teacher = {"name": "teacher", "methods": [{**DECODER, "layers": 2}], "train": TRAIN}
    for methods in (["decoder", "decoder_kd"], ["decoder_kd", "decoder"]):
        student = {
            "name": "student",
            "teacher": "teacher",
            "methods": [{"use": name} for name in methods],
            "train": TRAIN,
        }
        planned = recipe(pairs, bert_folder, [teacher, student])
        if methods[-1] == "decoder_kd":
            make_plan(planned, "plan")
        else:
            with pytest.raises(
                InputError, match="decoder_kd: a method named after it changes the layers that it compares"
            ):
                make_plan(planned, "plan")


@pytest.mark.parametrize(
    ("decoder", "fault"),
    [
        ({"use": "add_decoder", "hidden": 64}, "hidden is for a fresh encoder"),
        ({"use": "add_decoder", "shared": True}, "shared is for a fresh encoder"),
        ({**DECODER, "hidden": 30}, "hidden 30 is not a multiple of heads 4"),
    ],
)
def test_impossible_decoder_shapes_are_rejected(pairs, bert_folder, decoder, fault):
    with pytest.raises(InputError, match=fault):
        make_plan(recipe(pairs, bert_folder, [{"name": "teacher", "methods": [decoder], "train": TRAIN}]), "plan")


def test_a_model_with_another_target_vocabulary_is_rejected(finished_run, pairs, tmp_path):
    """Its target vocabulary was built from other rows."""
    rows = pairs.read_text().splitlines()
    other = tmp_path / "other.jsonl"
    other.write_text(
        "\n".join(row.upper() for row in rows[: len(rows) // 2]).replace("SOURCE", "source").replace("TARGET", "target")
    )
    plan = make_plan(
        recipe(other, stage(finished_run, "teacher") / "model", [{"name": "more", "train": TRAIN}]), "plan"
    )
    with pytest.raises(InputError, match=r"target\.json: is not what the task's rows give"):
        execute(plan.recipe, "more", tmp_path / "run")
