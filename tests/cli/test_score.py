"""`niwaki score MODEL TEXTS`: log-likelihoods of texts and tokens."""

import json

import pytest

import tiny
from niwaki.answers.likelihood import Likelihood


@pytest.fixture(scope="module")
def causal(tmp_path_factory):
    answer = Likelihood(scoring="causal").to_json()
    model = tiny.model("bert", layers=1, head="MaskedLM", labels=[], niwaki_answer=answer, is_decoder=True)
    return tiny.with_graphs(model, tmp_path_factory.mktemp("causal") / "model")


def test_scores_are_those_of_predict(niwaki, causal):
    texts = ["the plot was dull", "a good film"]
    assert niwaki("score", causal, *texts).out == niwaki("predict", causal, *texts).out


def test_tokens_are_scored_in_files_too(niwaki, causal, tmp_path):
    (tmp_path / "texts.txt").write_text("the plot was dull\na good film\n")
    result = niwaki("score", causal, "--per-token", "--in", tmp_path / "texts.txt", "--out", tmp_path / "out.jsonl")
    assert result.out == f"{tmp_path / 'out.jsonl'}: 2 answers\n"
    first, second = (json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines())
    assert [token for token, _ in first["per_token"]] == ["the", "plot", "was", "dull"]
    assert second["log_likelihood"] == pytest.approx(sum(score for _, score in second["per_token"]))
    line = niwaki("score", causal, "--per-token", "a good film").out
    assert line.startswith(f"a {second['per_token'][0][1]:.3f} good") and line.endswith("\ta good film\n")


def test_models_that_score_nothing_are_rejected(rejected, bert_folder):
    assert "is no language model" in rejected("score", bert_folder, "a film", "--engine", "torch", code=2)
