"""Configs to kinds of answers: niwaki's own come back as they were, strangers' are read by transformers' names."""

import ast

import pytest

import tiny
from engines.by_hand import of_text
from engines.kinds import INPUTS, ROWS, model_of, saved
from niwaki.answers import ANSWERS
from niwaki.answers._answer_type import AnswerType
from niwaki.answers._from_config import answer_type_of, labels_of
from niwaki.answers.embedding import Embedding
from niwaki.answers.label import Label
from niwaki.answers.labels import Labels
from niwaki.answers.number import Number
from niwaki.answers.span import Span
from niwaki.answers.tags import Tags
from niwaki.core.errors import InputError
from niwaki.engines.predictor import Predictor

TWO, ONE = {"id2label": {"0": "no", "1": "yes"}}, {"id2label": {"0": "LABEL_0"}}


@pytest.mark.parametrize(
    "config, wanted",
    [
        ({}, Label),
        ({"architectures": ["BertForSequenceClassification"], **TWO}, Label),
        ({"architectures": None, "problem_type": None, "id2label": None}, Label),
        ({"architectures": ["BertForMaskedLM"]}, Embedding),
        ({"architectures": ["BertModel"]}, Embedding),
        ({"architectures": ["MarianMTModel"]}, Label),
        ({"architectures": ["BertForSequenceClassification"], **ONE}, Number),  # as transformers reads it
        ({"problem_type": "regression", **TWO}, Number),
        ({"problem_type": "multi_label_classification", **TWO}, Labels),
        ({"problem_type": "single_label_classification", **TWO}, Label),
        ({"architectures": ["RobertaForTokenClassification"], **TWO}, Tags),
        ({"architectures": ["RobertaForTokenClassification"], **ONE}, Tags),
        ({"architectures": ["MPNetForQuestionAnswering"]}, Span),
        ({"architectures": ["XLNetForQuestionAnsweringSimple"], **TWO}, Span),
        ({"architectures": ["BertForSequenceClassification"], "niwaki_answer": {"kind": "number"}}, Number),
        (
            {"architectures": ["BertForQuestionAnswering"], "niwaki_answer": "span"},
            Span,
        ),  # not ours: read as a stranger's
    ],
)
def test_a_config_says_how_it_answers(config, wanted):
    assert type(answer_type_of(config, "config.json")) is wanted


@pytest.mark.parametrize(
    "kind",
    [
        *(ANSWERS.load(name, AnswerType)() for name in ANSWERS.names()),
        Span(stride=7, max_answer_tokens=3, allow_no_answer=True, threshold=-1.5),
        Number(mean=2.5, scale=1e-3),
        Labels(threshold=0.25),
    ],
)
def test_what_was_written_down_comes_back(kind):
    assert answer_type_of({"niwaki_answer": kind.to_json(), "architectures": ["XForMaskedLM"]}, "here") == kind


@pytest.mark.parametrize(
    "predicted, message",
    [
        ({"kind": "spam"}, "kind of answer 'spam' is not known, did you mean 'span'?"),
        ({"kind": "_kind"}, "'_kind' is not known"),
        ({}, "'None' is not known"),
        ({"kind": "span", "stride": -1}, "here: niwaki_answer.stride: input should be greater than or equal to 0"),
        ({"kind": "span", "max_answer_tokens": "many"}, "here: niwaki_answer.max_answer_tokens"),
        ({"kind": "labels", "threshold": 2}, "here: niwaki_answer.threshold"),
        ({"kind": "number", "scale": 0}, "here: niwaki_answer.scale"),
        ({"kind": "label", "treshold": 0.5}, "here: niwaki_answer.treshold: unknown key"),
    ],
)
def test_invalid_answer_settings_are_rejected(predicted, message):
    with pytest.raises(InputError) as caught:
        answer_type_of({"niwaki_answer": predicted}, "here")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "config, labels",
    [
        ({"id2label": {"10": "k", "2": "c", "0": "a"}}, ["a", "c", "k"]),
        ({"architectures": ["BertForQuestionAnswering"]}, ["start", "end"]),
        (
            {"architectures": ["BertForQuestionAnswering"], "id2label": {"0": "LABEL_0", "1": "LABEL_1"}},
            ["LABEL_0", "LABEL_1"],
        ),
        ({"architectures": ["DistilBertForSequenceClassification"]}, ["LABEL_0", "LABEL_1"]),
        ({"architectures": ["BertForTokenClassification"], "id2label": None}, ["LABEL_0", "LABEL_1"]),
    ],
)
def test_outputs_have_names_even_where_the_file_leaves_out_transformers_own(config, labels):
    assert labels_of(config, "config.json") == labels


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"id2label": {}},
        {"id2label": {"a": "b"}},
        {"architectures": ["BertForQuestionAnswering"], "id2label": []},
    ],
)
def test_a_model_that_answers_nothing_has_no_labels(config):
    with pytest.raises(InputError, match=r"^here: names no labels \(id2label\); fine-tune"):
        labels_of(config, "here")


def test_an_encoder_without_a_task_head_has_no_labels():
    assert labels_of({"architectures": ["BertModel"], "id2label": {"0": "LABEL_0", "1": "LABEL_1"}}, "here") == []
    assert labels_of({"architectures": ["BertModel"], **TWO, "niwaki_answer": {"kind": "label"}}, "here") == [
        "no",
        "yes",
    ]


@pytest.mark.parametrize("name", ANSWERS.names())
def test_every_kind_keeps_the_contract(name):
    kind, entry = ANSWERS.load(name, AnswerType), ANSWERS.entry(name)
    assert entry.description and kind().to_json()["kind"] == name and kind.input_description
    whole, every = (
        ("SequenceClassification", "ImageClassification", "ConditionalGeneration", "FeatureExtraction"),
        ("TokenClassification", "QuestionAnswering", "MaskedLM"),
    )
    assert kind.architecture in every if kind.per_token else kind.architecture in whole
    assert all(field.description for field in kind.model_fields.values())


def test_answers_need_no_torch():
    for path in ANSWERS.folder.glob("*.py"):
        names = {
            alias.name if isinstance(node, ast.Import) else str(node.module)
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        }
        assert not {name for name in names if name.split(".")[0] in ("torch", "transformers")}, path.name


@pytest.mark.parametrize(
    ("of", "problem", "wanted"),
    [
        ("label", None, "label"),
        ("label", "single_label_classification", "label"),
        ("labels", "multi_label_classification", "labels"),
        ("number", "regression", "number"),
        ("number", None, "number"),
        ("tags", None, "tags"),
        ("span", None, "span"),
    ],
)
def test_predictor_reads_configs_of_transformers(tmp_path, of, problem, wanted):
    model = model_of(of)
    model.network.config.niwaki_answer, model.network.config.problem_type = None, problem
    predictor = Predictor(saved(model, tmp_path), "torch")
    assert type(predictor.answer_type).__module__.rpartition(".")[2] == wanted
    assert len(predictor.predict(INPUTS[of][:3])) == 3
    if wanted == "number":  # logits are the numbers, as transformers reads them
        assert predictor.values(ROWS[:1]) == pytest.approx(of_text(model, ROWS[0]).tolist(), abs=1e-5)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"kind": "lable"}, "did you mean 'label'"),
        ({"kind": "labels", "threshold": 3}, "threshold"),
        ({"kind": "labels", "treshold": 0.3}, "unknown key, did you mean 'threshold'"),
        ({"kind": None}, "is not known"),
        ({"kind": "../label"}, "is not known"),
        ({}, "is not known"),
    ],
)
def test_predictor_rejects_an_invalid_answer_type(tmp_path, values, words):
    model = tiny.model("bert", layers=1)
    model.network.config.niwaki_answer = values
    with pytest.raises(InputError) as caught:
        Predictor(saved(model, tmp_path))
    assert words in str(caught.value) and "\n" not in str(caught.value)
