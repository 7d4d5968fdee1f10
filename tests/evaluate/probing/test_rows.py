import json

import pytest

from evaluate.probes.sentences import sentences
from niwaki.core.errors import InputError
from niwaki.evaluate.probes.agreement import Agreement
from niwaki.evaluate.probes.part_of_speech import PartOfSpeech
from niwaki.evaluate.probing.rows import examples_of, missing, read_sentences


def test_sentences_of_several_files_are_read_and_drawn(tmp_path):
    rows = sentences(30)
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    other = tmp_path / "words.jsonl"
    other.write_text(json.dumps({"words": ["a", "b"], "label": "x"}) + "\n")
    every = read_sentences([path, other], 100, 0)
    assert [one["tokens"] for one in every] == [*(row["tokens"] for row in rows), ["a", "b"]]
    some = read_sentences([path], 7, 0)
    assert len(some) == 7 and some == read_sentences([path], 7, 0) != read_sentences([path], 7, 1)
    (tmp_path / "texts.jsonl").write_text('{"text": "a"}\n')
    with pytest.raises(InputError, match="no column 'tokens'"):
        read_sentences([tmp_path / "texts.jsonl"], 5, 0)


def test_conllu_is_read(tmp_path):
    path = tmp_path / "rows.conllu"
    lines = [f"{n}\t{word}\t{word}\tNOUN\t_\t_\t{n - 1}\tdep\t_\t_" for n, word in enumerate(("a", "b"), 1)]
    path.write_text("\n".join(lines) + "\n\n")
    (row,) = read_sentences([path], 5, 0)
    assert row["tokens"] == ["a", "b"] and row["head"] == [0, 1] and row["upos"] == ["NOUN", "NOUN"]


def test_examples_are_split_by_sentence():
    rows = sentences(100)
    found = examples_of(PartOfSpeech(), rows, 300, 0)
    assert len(found.train) == 210 and len(found.test) == 90
    assert not {one.sentence for one in found.train} & {one.sentence for one in found.test}
    assert found.train == examples_of(PartOfSpeech(), rows, 300, 0).train


def test_why_there_are_no_examples():
    rows = [{"tokens": row["tokens"], "deprel": row["deprel"][:-1]} for row in sentences(9)]
    assert missing(Agreement(), rows) == "'head' or 'heads'; 'xpos' or 'feats'"
    assert "no column" in examples_of(Agreement(), rows, 99, 0)
    assert "40" in examples_of(PartOfSpeech(), sentences(2), 99, 0)
