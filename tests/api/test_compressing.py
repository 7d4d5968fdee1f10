"""`niwaki.compress`: any model, any data, one result; or one line and nothing written."""

import json
import shutil

import pytest

import niwaki
import tiny
from niwaki.api.sources import model_folder
from niwaki.core.errors import GateMissed, InputError, UsageError
from selection import rest_slow

from .compressions import TEXTS, measure_little, stock_folder

_ = pytest.fixture(scope="module", autouse=True)(measure_little)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """One folder for all, so that equal stages are made once."""
    return tmp_path_factory.mktemp("place")


@pytest.fixture(scope="module")
def stock(place):
    return stock_folder(place / "stock")


@pytest.fixture(scope="module")
def rows(place):
    return tiny.write_csv(place / "rows.csv", 120)


@pytest.fixture(scope="module")
def first(place, stock, rows):
    return niwaki.compress(str(stock), str(rows), out=place / "first", keep=0.5)


def figures(result):
    """What equal results have in common: names, scores and bytes, but no times."""
    return [(one.name, one.score, one.test_score, one.bytes) for one in result.candidates], result.chosen.name


def test_the_smallest_good_copy_is_saved_and_predicts(first):
    assert first.chosen.name == "source-4bit" and first.smaller > 2
    assert [one.name for one in first.candidates] == ["source", "source-int8", "source-4bit"]
    assert first.model.folder == first.folder and first.model.predict(TEXTS)[0].label in tiny.LABELS
    score = niwaki.api.evaluate(first.folder, data=first.folder.parent / "rows.csv")["value"]
    assert score == pytest.approx(first.score)
    assert first.kept == pytest.approx(first.score / first.source.test_score)


def test_the_result_is_described_in_text_html_and_json(first):
    assert repr(first).count("\n") == 0 and "source-4bit" in repr(first)
    page = first._repr_html_()
    assert page.count("<svg") == 1 and page.count("<tr>") == 4
    saved = json.loads((first.folder / "compression.json").read_text())
    assert saved["chosen"] == "source-4bit" and json.loads(json.dumps(first.to_json()))["kept"] == first.kept
    assert (first.run_folder / "report.html").is_file()


def test_save_copies_the_model_and_replaces_nothing(first, tmp_path):
    folder = first.save(tmp_path / "copy")
    assert niwaki.load(folder).predict(TEXTS) == first.model.predict(TEXTS)
    with pytest.raises(InputError, match="exists already"):
        first.save(folder)


def test_the_same_call_again_gives_the_same_result(first, place, stock, rows):
    again = niwaki.compress(str(stock), str(rows), out=place / "first", keep=0.5)
    assert figures(again) == figures(first)


def transformers_object(stock):
    from transformers import AutoModelForSequenceClassification

    return AutoModelForSequenceClassification.from_pretrained(stock)


def pipeline(stock):
    import transformers

    return transformers.pipeline("text-classification", model=str(stock), device="cpu")


@pytest.mark.parametrize(
    "model", rest_slow([transformers_object, pipeline], [pipeline]), ids=lambda make: make.__name__
)
def test_equal_results_for_a_folder_and_objects(first, place, stock, rows, model):
    found = niwaki.compress(model(stock), str(rows), out=place / model.__name__, keep=0.5)
    assert figures(found) == figures(first)


def frame(rows):
    return pytest.importorskip("pandas").read_csv(rows)


def polars_frame(rows):
    return pytest.importorskip("polars").read_csv(rows)


def dataset(rows):
    return pytest.importorskip("datasets").Dataset.from_list(dicts(rows))


def dicts(rows):
    return [{"text": text, "label": label} for text, label in tiny.sentences(120)]


@pytest.mark.parametrize(
    "data", rest_slow([frame, polars_frame, dataset, dicts], [frame]), ids=lambda make: make.__name__
)
def test_equal_results_for_a_file_and_objects(first, place, stock, rows, data):
    found = niwaki.compress(stock, data(rows), out=place / data.__name__, keep=0.5)
    assert figures(found) == figures(first)


def test_texts_and_y_give_equal_results(first, place, stock):
    texts, labels = zip(*tiny.sentences(120), strict=True)
    found = niwaki.compress(stock, list(texts), y=list(labels), out=place / "texts-and-y", keep=0.5)
    assert figures(found) == figures(first)


@pytest.mark.parametrize("data", [None, TEXTS], ids=["nothing", "texts"])
def test_without_labels_the_score_is_the_agreement_with_the_source(place, stock, data):
    found = niwaki.compress(stock, data, methods=["int8"], out=place / f"agreement-{data is None}", keep=0.5)
    assert found.metric == "agreement" and found.source.test_score == 1.0 and found.score > 0.5
    assert found.chosen.name == "source-int8"


def test_a_named_recipe_distils_the_source(place, stock, rows):
    found = niwaki.compress(
        stock, str(rows), methods=["vocabulary"], out=place / "vocabulary", keep=0.1, overrides=["data.max_tokens=16"]
    )
    assert found.chosen.name == "vocabulary"


def test_a_missed_gate_saves_no_model_and_names_the_best(place, stock, rows):
    with pytest.raises(GateMissed, match="within the budget of 0"):
        niwaki.compress(stock, str(rows), methods=["int8"], budget="1kB", keep=0.5, out=place / "gate")
    assert not (place / "gate").exists()


@pytest.mark.parametrize(
    "options",
    [
        {"keep": 0},
        {"keep": 1.5},
        {"keep": "97%"},
        {"keep": True},
        {"budget": "ten"},
        {"budget": 10},
        {"methods": "int8"},
        {"methods": ["int9"]},
        {"methods": []},
        {"prefer": "beauty"},
        {"out": ""},
        {"out": 3},
        {"overrides": ["stages.x=1"]},
    ],
    ids=str,
)
def test_invalid_options_are_rejected_and_nothing_is_written(tmp_path, stock, rows, options):
    with pytest.raises(UsageError) as error:
        niwaki.compress(stock, str(rows), **{"out": tmp_path / "out"} | options)
    assert "\n" not in str(error.value) and not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "data",
    [
        3,
        object(),
        [],
        {},
        [None],
        ["one text"],
        [{"text": "a", "label": "x"}] * 3,
        [{"number": 1}],
        "missing.csv",
        b"bytes",
        {1, 2},
        (text for text in TEXTS),
        [{"text": text, "label": "cat" if number % 2 else "dog"} for number, text in enumerate(TEXTS)],
    ],
    ids=lambda data: f"{type(data).__name__}-{str(data)[:20]}",
)
def test_invalid_data_is_rejected_and_nothing_is_written(tmp_path, stock, data):
    with pytest.raises(InputError) as error:
        niwaki.compress(stock, data, out=tmp_path / "out")
    assert "\n" not in str(error.value) and not list(tmp_path.iterdir())


def test_a_folder_of_others_is_not_replaced(tmp_path, stock, rows):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "letter.txt").write_text("mine")
    with pytest.raises(InputError, match="exists already"):
        niwaki.compress(stock, str(rows), out=tmp_path / "out")
    assert (tmp_path / "out" / "letter.txt").read_text() == "mine"


def test_damaged_models_are_rejected_and_nothing_is_written(tmp_path, stock, rows):
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        broken = tmp_path / "broken"
        shutil.copytree(model_folder(stock, tmp_path), broken)
        (broken / name).write_bytes(b"{")
        with pytest.raises(InputError, match=name):
            niwaki.compress(broken, str(rows), out=tmp_path / "out")
        shutil.rmtree(broken)
        assert not list(tmp_path.iterdir())
