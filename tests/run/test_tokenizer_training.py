"""Training a tokenizer on files: what is read, what is reported, and that nothing is written if it fails."""

import json
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tokenizers import Tokenizer

import tiny
from niwaki import api
from niwaki.core.errors import InputError, UsageError
from niwaki.core.files import fault_in_folder
from niwaki.run.tokenizer_training import evaluate_tokenizer, is_held_back
from niwaki.tokenization.tokenizer_rules import read_text
from niwaki.tokenization.training import make

TEXTS = [f"{text} {number}" for number, (text, _) in enumerate(tiny.sentences(300))]


@pytest.fixture
def lines(tmp_path):
    path = tmp_path / "corpus.en"  # as corpora of translations are called
    path.write_text("".join(f"{text}\n" for text in TEXTS), encoding="utf-8")
    return path


@pytest.mark.parametrize("split", ["bpe", "wordpiece", "words", "bytes", "characters"])
def test_lines_of_text(tmp_path, lines, split):
    summary = api.tokenizer([lines], split=split, vocab_size=400, out=tmp_path / "made")
    tokenizer = Tokenizer.from_str(read_text(tmp_path / "made" / "tokenizer.json"))
    train_texts = [text for text in TEXTS if not is_held_back(text)]
    assert (tmp_path / "made" / "tokenizer.json").read_text(encoding="utf-8") == make(train_texts, split, 400)
    assert (
        summary["vocab_size"] == tokenizer.get_vocab_size()
        and summary["held_back"] == len(TEXTS) - len(train_texts) > 10
    )
    assert fault_in_folder(tmp_path / "made") is None


def test_scores_of_texts_worked_out_by_hand():
    tokenizer = Tokenizer.from_str(make(["a b a b", "b c"], "words", 6))  # a and b
    summary = evaluate_tokenizer(tokenizer, iter(["a c", "b b d  a"]))
    assert summary == {"held_back": 2, "tokens_per_word": 1.0, "unknown": 2 / 6}
    assert evaluate_tokenizer(tokenizer, iter([])) == {"held_back": 0, "tokens_per_word": None, "unknown": None}
    assert evaluate_tokenizer(Tokenizer.from_str(make(["ab"], "characters", 9)), iter(["ab a"]))["tokens_per_word"] == 2


def test_columns_of_tables_give_the_same_as_lines(tmp_path, lines):
    half = len(TEXTS) // 2
    rows = pa.table({"id": list(range(half)), "en": TEXTS[:half], "de": TEXTS[half : 2 * half]})
    pq.write_table(rows, tmp_path / "rows.parquet")
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows.to_pylist()))
    for name in ("rows.parquet", "rows.jsonl"):
        api.tokenizer([tmp_path / name], vocab_size=400, out=tmp_path / f"{name}-contents", columns=["en", "de"])
    api.tokenizer([lines], vocab_size=400, out=tmp_path / "contents")
    contents = {
        (tmp_path / name / "tokenizer.json").read_bytes()
        for name in ("contents", "rows.parquet-contents", "rows.jsonl-contents")
    }
    assert len(contents) == 1


def test_a_tenth_is_held_back_by_the_text_alone():
    share = sum(map(is_held_back, (str(number) for number in range(5000)))) / 5000
    assert 0.08 < share < 0.12


@pytest.mark.parametrize(
    "content, options, message",
    [
        ("", {}, "no word"),
        ("some text\n", {"columns": ["en"]}, "has no column 'en'"),
        ("some text\n", {"vocab_size": 100}, "too few"),
        ("some text\n", {"split": "characters", "vocab_size": -1}, "vocab_size"),
    ],
)
def test_nothing_is_written_for_invalid_input(tmp_path, content, options, message):
    (tmp_path / "some.txt").write_text(content)
    with pytest.raises(InputError, match=message):
        api.tokenizer([tmp_path / "some.txt"], out=tmp_path / "made", **options)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["some.txt"]


def test_wrong_files_and_columns(tmp_path, lines):
    table = tmp_path / "rows.csv"
    table.write_text("one,two\na b,c d\n")
    with pytest.raises(InputError, match=r"which column holds the texts is not clear.*--column"):
        api.tokenizer([table], out=tmp_path / "made")
    with pytest.raises(InputError, match="has no column 'thre'"):
        api.tokenizer([table], out=tmp_path / "made", columns=["thre"])
    pq.write_table(pa.table({"n": [1, 2]}), tmp_path / "n.parquet")
    with pytest.raises(InputError, match="column 'n' holds int64, not text"):
        api.tokenizer([tmp_path / "n.parquet"], out=tmp_path / "made", columns=["n"])
    with pytest.raises(InputError, match="is not there"):
        api.tokenizer([tmp_path / "nowhere.txt"], out=tmp_path / "made")
    os.mkfifo(tmp_path / "pipe.txt")
    with pytest.raises(InputError, match="is not a plain file"):
        api.tokenizer([tmp_path / "pipe.txt"], out=tmp_path / "made")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(InputError, match="not text in UTF-8"):
        api.tokenizer([tmp_path / "binary"], out=tmp_path / "made")
    with pytest.raises(UsageError, match="did you mean 'bpe'"):
        api.tokenizer([lines], split="bep", out=tmp_path / "made")
    with pytest.raises(UsageError, match="at least one file"):
        api.tokenizer([], out=tmp_path / "made")
    assert not (tmp_path / "made").exists()
    with pytest.raises(InputError, match="exists already"):
        api.tokenizer([lines], out=tmp_path)
