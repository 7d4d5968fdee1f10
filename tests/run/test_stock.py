"""A recipe that begins with a model that writes already: tuned, taught, cut, packed, and begun from again."""

import json

import pytest

import stock
from niwaki.answers.text import TARGET
from niwaki.core.errors import InputError
from niwaki.core.files import read_json
from niwaki.engines.predictor import Predictor
from niwaki.meter.ledger import Ledger
from niwaki.models.model import load_folder
from niwaki.models.stock import WEIGHTS
from niwaki.run.plan import make_plan
from niwaki.run.recipe import parse
from niwaki.run.runner import run_stage

WORDS = [word.lower() for word in stock.WORDS[:5]]


def rows(count):
    """A text, and its words in capital letters."""
    texts = [" ".join(WORDS[(number // 5**place) % 5] for place in range(2 + number % 3)) for number in range(count)]
    return [{"source": text, "target": text.upper()} for text in texts]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stock")
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows(125)), encoding="utf-8")
    stock.folder("bart", folder / "bart", noise=0.1, encoder_layers=1, decoder_layers=1)
    return folder


def recipe(place, model="bart", stages=None, **data):
    stages = stages or [{"name": "tuned", "train": {"epochs": 1}}]
    data = {"path": str(place / "rows.jsonl"), "max_new_tokens": 12, "beam": 2, **data}
    return parse({"model": str(place / model), "task": "generation", "data": data, "quantize": [], "stages": stages})


def test_it_generates_its_own_tokens_and_special_tokens(place):
    """The marks that BART puts around a text are learnt with it, as in its pretraining."""
    task = make_plan(recipe(place), "a").task
    table = task.splits()["train"].slice(0, 3)
    wanted = [[0, *(4 + stock.WORDS.index(word) for word in text.split()), 2] for text in task.gold(table)]
    found = task.targets(table, None)
    assert [found[number].tolist() for number in range(3)] == wanted
    assert (task.answer_type.start, task.answer_type.end, task.answer_type.suppress_tokens) == (2, 2, [1])
    assert task.files()[TARGET] == load_folder(place / "bart", task.head).sibling_files[TARGET]


def test_targets_that_are_too_long_are_rejected(place):
    with pytest.raises(InputError, match=r"data.max_new_tokens: 41 is more than the 40 tokens that .*bart can write"):
        make_plan(recipe(place, max_new_tokens=41), "a")


def test_it_is_given_no_second_decoder(place):
    with pytest.raises(InputError, match="the model has a decoder already; leave 'add_decoder' out"):
        make_plan(
            recipe(place, stages=[{"name": "a", "methods": [{"use": "add_decoder"}], "train": {"epochs": 1}}]), "a"
        )


def test_its_vocabulary_cannot_be_trimmed(place):
    with pytest.raises(
        InputError, match=r"stage 'a': vocabulary: .*trim the model before the recipe .* leave 'vocabulary' out"
    ):
        make_plan(recipe(place, stages=[{"name": "a", "methods": [{"use": "vocabulary"}]}]), "a")


@pytest.fixture(scope="module")
def finished_stages(place):
    """Tuned, then taught by itself with half of its heads and neurons, then packed."""
    train = {"epochs": 14, "lr": 5e-3, "batch": 16, "dropout": 0.0, "precision": "fp32"}
    cuts = [{"use": "ffn", "keep": 0.5, "multiple": 1}, {"use": "heads", "keep": 0.5}, {"use": "logits"}]
    stages = [
        {"name": "tuned", "train": train},
        {"name": "cut", "teacher": "tuned", "methods": cuts, "train": {**train, "epochs": 6}},
        {"name": "int8", "methods": [{"use": "int8"}]},
    ]
    folder = place / "run"
    (folder / "stages").mkdir(parents=True)
    plan, ledger = (
        make_plan(recipe(place, stages=stages, label_smoothing=0.0), "stock"),
        Ledger(folder / "ledger.jsonl"),
    )
    for stage in plan.stages:
        run_stage(plan, stage, folder, ledger, lambda: False)
    return {stage.spec.name: folder / stage.folder for stage in plan.stages}


def test_a_recipe_from_a_stock_model_to_a_packed_one(finished_stages):
    results = {name: read_json(folder / "result.json") for name, folder in finished_stages.items()}
    assert results["tuned"]["score"]["value"] > 0.8
    assert all(result["engine"] == "onnx" for result in results.values())
    assert results["tuned"]["parity"] < 1e-4
    sizes = [(folder / "model" / WEIGHTS).stat().st_size for folder in finished_stages.values()]
    assert sizes == sorted(sizes, reverse=True) and sizes[0] > 2 * sizes[2]


def test_it_is_predicted_with_and_given_back_to_transformers(finished_stages):
    import torch
    import transformers

    folder = finished_stages["tuned"] / "model"
    found = [str(answer) for answer in Predictor(folder).predict(["one two", "five three four"])]
    again = transformers.BartForConditionalGeneration.from_pretrained(folder).eval()
    tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(folder)
    given = tokenizer(["one two", "five three four"], return_tensors="pt", padding=True)
    with torch.no_grad():
        generated = again.generate(
            input_ids=given["input_ids"], attention_mask=given["attention_mask"], num_beams=2, max_new_tokens=12
        )
    assert found == tokenizer.batch_decode(generated, skip_special_tokens=True)


def test_a_stage_is_begun_from_in_another_recipe(place, finished_stages):
    again = make_plan(recipe(place, model=finished_stages["int8"].relative_to(place) / "model"), "again")
    model = load_folder(again.model_folder, again.task.head)
    assert model.sibling_files[TARGET] == load_folder(place / "bart", again.task.head).sibling_files[TARGET]
