"""CoNLL-U with propositions in both layouts, CoNLL's spans; errors are reported with their line."""

import gzip

import pytest

from niwaki.core.errors import InputError
from niwaki.data.columns import guess_columns
from niwaki.data.dataset_files import read_splits

NEW = """# sent_id = 1
# text = He does n't sleep and she sang
1	He	he	PRON	PRP	_	4	nsubj	4:nsubj	_	_	ARG0	_
2-3	doesn't	_	_	_	_	_	_	_	_	_	_	_
2	does	do	AUX	VBZ	_	4	aux	4:aux	_	_	_	_
3	n't	not	PART	RB	_	4	advmod	4:advmod	_	_	ARGM-NEG	_
4	sleep	sleep	VERB	VB	_	0	root	0:root	_	sleep.01	V	_
4.1	may	may	AUX	_	_	_	_	4:aux	_	_	_	_
5	and	and	CCONJ	CC	_	7	cc	7:cc	_	_	_	_
6	she	she	PRON	PRP	_	7	nsubj	7:nsubj	_	_	_	ARG0
7	sang	sing	VERB	VBD	_	4	conj	4:conj	_	sing.01	_	V

# a sentence without predicates ends in a tab
1	Hello	hello	INTJ	UH	_	0	root	0:root	_	_\t
"""
OLD = """# text: È nuovo
1	È	essere	VERB	VERB	_	0	root	Y	be.01	_
2	nuovo	nuovo	ADJ	ADJ	_	1	xcomp	_	_	A2

1	Ciao	ciao	INTJ	INTJ	_	0	root	_	_
"""
SPANS = """doc	0	What	WP	-	(ARG2*)	*
doc	1	is	VBZ	be.01	(V*)	*
doc	2	this	DT	-	(ARG1*	(ARG0*)
doc	3	making	VBG	make.LV	*)	(V*)

doc	0	lol	UH	-
"""


def rows_of(tmp_path, text, name="x.conllu"):
    (tmp_path / name).write_text(text, encoding="utf-8")
    return read_splits(tmp_path / name)["all"].to_pylist()


def test_conllu_with_propositions(tmp_path):
    first, second = rows_of(tmp_path, NEW)
    assert first["tokens"] == ["He", "does", "n't", "sleep", "and", "she", "sang"]
    assert first["head"] == [4, 4, 4, 0, 7, 7, 4] and first["lemmas"][3] == "sleep" and first["deprel"][0] == "nsubj"
    assert (first["predicates"], first["rolesets"]) == ([3, 6], ["sleep.01", "sing.01"])
    assert [(one["predicate"], one["token"], one["label"]) for one in first["args"]] == [
        (0, 0, "ARG0"),
        (0, 2, "ARGM-NEG"),
        (0, 3, "V"),
        (1, 5, "ARG0"),
        (1, 6, "V"),
    ]
    assert second["tokens"] == ["Hello"] and second["predicates"] == second["args"] == []


def test_the_older_layout_and_line_ends_of_windows(tmp_path):
    first, second = rows_of(tmp_path, OLD.replace("\n", "\r\n"))
    assert (first["predicates"], first["rolesets"], first["upos"]) == ([0], ["be.01"], ["VERB", "ADJ"])
    assert first["args"] == [{"predicate": 0, "token": 1, "label": "A2"}] and second["tokens"] == ["Ciao"]


def test_plain_conllu_has_no_predicates(tmp_path):
    (row,) = rows_of(tmp_path, "1\tHi\thi\tINTJ\t_\t_\t_\troot\t0:root\t_\n")
    assert row["predicates"] == [] and row["head"] == []  # a tree that is not there


def test_spans_in_brackets(tmp_path):
    first, second = rows_of(tmp_path, SPANS, "x.conll")
    assert (first["predicates"], first["rolesets"]) == ([1, 3], ["be.01", "make.LV"])
    assert [(one["predicate"], one["label"], one["start"], one["end"]) for one in first["args"]] == [
        (0, "ARG2", 0, 1),
        (0, "V", 1, 2),
        (0, "ARG1", 2, 4),
        (1, "ARG0", 2, 3),
        (1, "V", 3, 4),
    ]
    assert second["tokens"] == ["lol"]


def test_packed_files_and_folders_and_what_they_are_for(tmp_path):
    (tmp_path / "train.conllu.gz").write_bytes(gzip.compress(NEW.encode()))
    (tmp_path / "dev.conllu").write_text(NEW)
    tables = read_splits(tmp_path)
    assert tables["train"].equals(tables["validation"]) and guess_columns(tables["train"], {}).kind == "roles"


@pytest.mark.parametrize(
    "text, message",
    [
        (NEW.replace("\tARG0\t_\n", "\tARG0\n", 1), "the sentence at line 1 has lines of 12 and of 13 columns"),
        (
            NEW.replace("sing.01", "_"),
            "the sentence at line 1 has 1 predicates and 2 columns of arguments; CoNLL-U has eleven",
        ),
        (
            NEW.replace("\t0:root\t_\t_\t", "\t0:root\t_\tx.01\t"),
            "the sentence at line 13 has 1 predicates and 0 columns",
        ),
        ("1\tHi\thi\n", "the sentence at line 1 has 3 columns; CoNLL-U has ten"),
        ("", "has no rows"),
        ("# only\n\n# remarks\n", "has no rows"),
        ("1\tx\x00\n", "is NUL"),
    ],
)
def test_invalid_conllu_is_rejected_in_one_line(tmp_path, text, message):
    with pytest.raises(InputError) as caught:
        rows_of(tmp_path, text)
    assert message in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text, message",
    [
        (SPANS.replace("*)\t(V*)", "*\t(V*)"), "does not close argument 'ARG1'"),
        (SPANS.replace("(V*)\t*\n", "(V*))\t*\n"), "closes an argument at word 2 that was not opened"),
        (SPANS.replace("(ARG2*)", "ARG2"), "has an argument written 'ARG2'; it is brackets around a star"),
        (SPANS.replace("be.01", "-"), "has 1 predicates and 2 columns of arguments; there are five"),
        ("doc 0 lol\n", "has 3 columns; there are document"),
    ],
)
def test_invalid_spans_are_rejected_in_one_line(tmp_path, text, message):
    with pytest.raises(InputError) as caught:
        rows_of(tmp_path, text, "x.conll")
    assert f"line 1 {message}" in str(caught.value) and "\n" not in str(caught.value)


def test_words_without_end_are_no_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr("niwaki.data.conll.MAX_WORDS", 5)
    with pytest.raises(InputError, match="line 6 is word 6 of a sentence; put empty lines between sentences"):
        rows_of(tmp_path, "doc 0 lol UH -\n" * 9, "x.conll")
