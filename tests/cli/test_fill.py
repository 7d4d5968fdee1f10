"""`niwaki fill MODEL TEXTS`: candidates for masks, of words and of files."""

import json

import pytest

import tiny
from niwaki.answers.likelihood import Likelihood


@pytest.fixture(scope="module")
def masked(tmp_path_factory):
    answer = Likelihood(mask_token_id=tiny.tokenizer().mask_token_id).to_json()
    model = tiny.model("bert", layers=1, head="MaskedLM", labels=[], niwaki_answer=answer)
    return tiny.with_graphs(model, tmp_path_factory.mktemp("masked") / "model")


def test_candidates_are_printed_likeliest_first(niwaki, masked):
    lines = niwaki("fill", masked, "the ___ was dull", "a [MASK] ___", "--top", "2").out.splitlines()
    assert lines[0].endswith("\tthe ___ was dull") and lines[0].count(", ") == 1
    assert lines[1].count(" | ") == 1
    (found, _) = json.loads(niwaki("fill", masked, "the ___ was dull", "___", "--top", "2", "--json").out)
    assert found["text"] == "the ___ was dull" and len(found["masks"][0]) == 2
    first, second = found["masks"][0]
    assert first["probability"] >= second["probability"] and first["text"] == f"the {first['token']} was dull"


def test_files_are_filled_and_lines_without_mask_reported(niwaki, rejected, masked, tmp_path):
    (tmp_path / "texts.txt").write_text("the ___ was dull\na film\n___ film\n")
    line = rejected("fill", masked, "--in", tmp_path / "texts.txt", "--out", tmp_path / "out.jsonl")
    assert "line 2" in line and "has no mask; write ___" in line
    done = niwaki("fill", masked, "--in", tmp_path / "texts.txt", "--out", tmp_path / "out.jsonl", "--skip-bad")
    assert done.out == f"{tmp_path / 'out.jsonl'}: 3 answers, 1 bad lines\n"
    records = [json.loads(text) for text in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [("masks" in record, record["text"] if "text" in record else record["line"]) for record in records] == [
        (True, "the ___ was dull"),
        (False, 2),
        (True, "___ film"),
    ]


def test_texts_and_models_that_cannot_be_filled_are_rejected(rejected, masked, bert_folder):
    assert "texts.0: has no mask" in rejected("fill", masked, "the film")
    assert "fill.top" in rejected("fill", masked, "___", "--top", "0")
    assert "is no language model" in rejected("fill", bert_folder, "___", "--engine", "torch", code=2)
