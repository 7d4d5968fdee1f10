"""`niwaki sample MODEL PROMPTS`."""

import io
import json
import sys

import pytest

import tiny
from niwaki.answers.likelihood import Likelihood


@pytest.fixture(scope="module")
def causal(tmp_path_factory):
    answer = Likelihood(scoring="causal").to_json()
    model = tiny.model("bert", layers=1, head="MaskedLM", labels=[], niwaki_answer=answer, is_decoder=True)
    return tiny.with_graphs(model, tmp_path_factory.mktemp("causal") / "model")


def test_streamed_and_whole_texts_are_the_same(niwaki, causal):
    options = ("--tokens", "6", "--temperature", "0.8", "--top-k", "20", "--top-p", "0.9", "--seed", "3")
    streamed = niwaki("sample", causal, "the film was", *options).out
    (found,) = json.loads(niwaki("sample", causal, "the film was", *options, "--json").out)
    assert streamed == f"{found['text']}\n" and found["text"] == found["prompt"] + found["continuation"]
    assert found["tokens"] <= 6 and found["finished"] in ("length", "end")


def test_prompts_are_read_from_stdin(niwaki, causal, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("the film\na plot\n"))
    lines = niwaki("sample", causal, "--tokens", "3").out.splitlines()
    assert [line.startswith(prompt) for line, prompt in zip(lines, ("the film", "a plot"), strict=True)] == [True, True]


def test_settings_and_models_are_checked(rejected, causal, bert_folder):
    assert "sample.top_p" in rejected("sample", causal, "a", "--top-p", "1.5")
    assert "is no language model" in rejected("sample", bert_folder, "a", "--engine", "torch", code=2)
