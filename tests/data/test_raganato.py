"""Raganato's XML and keys: valid files are read; invalid and hostile ones are rejected in one line."""

import pytest

from niwaki.core.errors import InputError
from niwaki.data import raganato

XML = """<?xml version="1.0" encoding="UTF-8" ?>
<corpus lang="en" source="made">
<text id="d0">
<sentence id="d0.s0">
<wf lemma="the" pos="DET">The</wf>
<instance id="d0.s0.t0" lemma="grand_jury" pos="NOUN">grand jury</instance>
<instance id="d0.s0.t1" lemma="say" pos="VERB">voted</instance>
<wf lemma="&amp;" pos=".">&amp;</wf>
</sentence>
<sentence id="d0.s1"><wf lemma="naïve" pos="ADJ">naïve</wf></sentence>
</text>
</corpus>
"""
KEYS = "d0.s0.t0 grand_jury%1:14:00::\nd0.s0.t1 vote%2:32:00:: vote%2:32:01::\n\n"


def write(folder, xml=XML, keys=KEYS):
    (folder / "made.data.xml").write_text(xml, encoding="utf-8")
    if keys is not None:
        (folder / "made.gold.key.txt").write_text(keys, encoding="utf-8")
    return folder / "made.data.xml"


def test_sentences_are_read_as_the_parquet_form_has_them(tmp_path):
    first, second = raganato.read_raganato(write(tmp_path)).to_pylist()
    assert first == {
        "doc_id": "d0",
        "sent_id": "d0.s0",
        "tokens": ["The", "grand jury", "voted", "&"],
        "lemmas": ["the", "grand_jury", "say", "&"],
        "pos": ["DET", "NOUN", "VERB", "."],
        "instance_ids": [None, "d0.s0.t0", "d0.s0.t1", None],
        "sense_keys": [None, ["grand_jury%1:14:00::"], ["vote%2:32:00::", "vote%2:32:01::"], None],
    }
    assert second["tokens"] == ["naïve"] and second["sense_keys"] == [None]


def test_many_sentences_keep_their_order(tmp_path, monkeypatch):
    monkeypatch.setattr(raganato, "BLOCK", 64)  # words are cut anywhere by it
    monkeypatch.setattr(raganato, "BATCH", 3)
    many = "".join(f'<sentence id="{n}"><wf lemma="a" pos="X">w{n}</wf></sentence>' for n in range(10))
    found = raganato.read_raganato(write(tmp_path, f"<corpus>{many}</corpus>", ""))
    assert found.column("tokens").to_pylist() == [[f"w{n}"] for n in range(10)]


ENTITY = '<!DOCTYPE corpus [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><corpus>&b;</corpus>'
OUTSIDE = '<!DOCTYPE corpus SYSTEM "file:///etc/passwd"><corpus/>'
WORD = '<wf lemma="a" pos="X">a</wf>'


@pytest.mark.parametrize(
    ("xml", "words"),
    [
        (ENTITY, "line 1: declares a document type"),
        (OUTSIDE, "declares a document type"),
        (XML[:300], "no sound XML"),
        ("", "no sound XML"),
        ("<corpus>&made_up;</corpus>", "no sound XML"),
        (f"<corpus>{WORD}</corpus>", "outside of a sentence"),
        ('<corpus><sentence><instance lemma="a" pos="X">a</instance></sentence></corpus>', "has no id"),
        ("<corpus/>", "has no sentences"),
        ("<a>" * 20 + "</a>" * 20, "nested more than 8 deep"),
        (f'<corpus><sentence><wf lemma="a" pos="X">{"a" * 10_001}</wf></sentence></corpus>', "more than 10000 char"),
        (f"<corpus><sentence>{WORD * 20_001}</sentence></corpus>", "more than 20000 words"),
    ],
)
def test_invalid_xml_is_rejected_in_one_line(tmp_path, xml, words):
    with pytest.raises(InputError, match=words) as caught:
        raganato.read_raganato(write(tmp_path, xml, ""))
    assert "made.data.xml" in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        (None, "made.gold.key.txt: is not there"),
        ("d0.s0.t0 a%1::\n", "instance 'd0.s0.t1' has no key"),
        (KEYS + "d9.s9.t9 a%1::\n", "'d9.s9.t9' belongs to no instance"),
        (KEYS + "d0.s0.t0 a%1::\n", "line 4: instance 'd0.s0.t0' is there twice"),
        ("d0.s0.t0\n", "line 1: instance 'd0.s0.t0' names no sense"),
    ],
)
def test_keys_of_other_sentences_are_rejected(tmp_path, keys, words):
    with pytest.raises(InputError, match=words):
        raganato.read_raganato(write(tmp_path, keys=keys))


def test_keys_that_are_not_text_are_rejected(tmp_path):
    path = write(tmp_path)
    (tmp_path / "made.gold.key.txt").write_bytes(b"\xff\xfe\x00d0")
    with pytest.raises(InputError, match=r"made.gold.key.txt: cannot be read"):
        raganato.read_raganato(path)
