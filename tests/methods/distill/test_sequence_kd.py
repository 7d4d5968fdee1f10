"""Training on the texts that a teacher generates."""

import pyarrow as pa
import pytest

import tiny
from niwaki.core.errors import InputError
from niwaki.methods.distill.sequence_kd import SequenceKd
from seq2seq import seq2seq_model

ROWS = pa.table({"source": ["a", "b"], "target": ["A", "B"]})


def answered(rows):
    return rows.set_column(1, "target", pa.array([f"teacher's {text}" for text in rows.column("source").to_pylist()]))


def test_the_teachers_texts_take_the_place_of_the_references():
    assert SequenceKd().rows(ROWS, answered).column("target").to_pylist() == ["teacher's a", "teacher's b"]


def test_references_may_stay():
    found = SequenceKd(truth=True).rows(ROWS, answered)
    assert found.to_pydict() == {"source": ["a", "b"] * 2, "target": ["A", "B", "teacher's a", "teacher's b"]}


def test_a_teacher_must_generate_text():
    student = seq2seq_model("bert")
    SequenceKd().check_teacher(student, seq2seq_model("bert"))
    with pytest.raises(InputError, match=r"^sequence_kd: the teacher does not generate text; distil it with 'logits'$"):
        SequenceKd().check_teacher(student, tiny.model("bert"))


def test_a_teacher_is_required_and_its_answers_are_followed():
    assert SequenceKd.requires.teacher == "required" and SequenceKd.requires.training
    assert SequenceKd().follows_answers
