"""Guesses of columns: one candidate is chosen, several are rejected with the setting that decides."""

import pyarrow as pa
import pytest

from niwaki.core.errors import InputError
from niwaki.data.columns import ColumnGuess, guess_columns
from niwaki.data.dataset_files import read_table

ROWS = 60
TEXT = [f"The {number}th film of this year was long and slow" for number in range(ROWS)]
OTHER = [f"Another text of the number {number} that also says a thing" for number in range(ROWS)]
LONG = [f"{text}. " * 4 for text in OTHER]
WORD = [("good", "bad", "so so")[number % 3] for number in range(ROWS)]
WHOLE = [number % 4 for number in range(ROWS)]
PART = [number % 11 / 4 for number in range(ROWS)]
ROW = list(range(ROWS))
CODE = [f"{number:08x}-aaaa-bbbb-cccc-{number:012x}" for number in range(ROWS)]
TOKENS = [["a", "b", "c"][: 1 + number % 3] for number in range(ROWS)]
TAGS = [["O", "B-X", "O"][: 1 + number % 3] for number in range(ROWS)]
TOPICS = [["sport", "film", "news"][: number % 4] for number in range(ROWS)]
ANSWERS = [{"text": ["film"], "answer_start": [6]}] * ROWS
JOINED = ["a|b", "b", "a|b|c", "c|a", "c", "a|c|d", "d|b"] * 8 + ["a|d"] * 4


@pytest.mark.parametrize(
    "columns, expected",
    [
        ({"text": TEXT, "label": WORD}, "classification text=text label=label"),
        ({"id": ROW, "Review": TEXT, "Sentiment": WORD}, "classification text=Review label=Sentiment"),
        ({"Unnamed: 0": ROW, "Comment Text": TEXT, "class": WHOLE}, "classification text=Comment Text label=class"),
        ({"text": TEXT, "title": OTHER, "label": WHOLE, "rating": PART}, "classification text=text label=label"),
        ({"sentence": TEXT, "label": [w == "good" for w in WORD]}, "classification text=sentence label=label"),
        ({"text": TEXT, "label": [float(value) for value in WHOLE]}, "classification text=text label=label"),
        ({"text": TEXT, "stars": [str(value) for value in WHOLE]}, "classification text=text label=stars"),
        ({"text": TEXT, "y": PART}, "regression text=text label=y"),
        ({"text": TEXT, "score": [str(value) for value in PART]}, "regression text=text label=score"),
        ({"text": TEXT, "score": [*map(str, PART[:-1]), ""]}, "regression text=text label=score"),
        ({"text": TEXT, "score": [*map(str, PART[:-3]), "NaN", "-inf", "n/a"]}, "regression text=text label=score"),
        ({"text": TEXT, "label": ["none", "nan", "null"] * 20}, "classification text=text label=label"),
        ({"spam": ["spam", "ham"] * 30, "message body": TEXT}, "classification text=message body label=spam"),
        (
            {"sentence1": TEXT, "sentence2": OTHER, "label": PART, "idx": ROW},
            "regression text=sentence1 second=sentence2 label=label",
        ),
        (
            {"premise": TEXT, "hypothesis": OTHER, "gold_label": WORD, "genre": WORD},
            "classification text=premise second=hypothesis label=gold_label",
        ),
        (
            {"question": TEXT, "sentence": OTHER, "label": WORD},
            "classification text=question second=sentence label=label",
        ),
        (
            {"qid1": ROW, "question1": TEXT, "question2": OTHER, "is_duplicate": WHOLE},
            "classification text=question1 second=question2 label=is_duplicate",
        ),
        ({"Text A": TEXT, "text-b": OTHER, "label": WORD}, "classification text=Text A second=text-b label=label"),
        (
            {"question": TEXT, "passage": OTHER, "answer": [w == "good" for w in WORD]},
            "classification text=question second=passage label=answer",
        ),
        ({"text": TEXT, "labels": TOPICS}, "multilabel text=text label=labels"),
        ({"text": TEXT, "labels": [[1, 2]] * ROWS}, "multilabel text=text label=labels"),
        ({"text": TEXT, "topics": JOINED}, "multilabel text=text label=topics mark=|"),
        ({"text": TEXT, "label": ["Smith, Jo", "Doe, Ann", "Roe, Kim"] * 20}, "classification text=text label=label"),
        ({"id": CODE, "tokens": TOKENS, "ner_tags": TAGS}, "tagging tokens=tokens tags=ner_tags"),
        (
            {"tokens": TOKENS, "tags": [[len(tag) for tag in row] for row in TAGS], "text": TEXT},
            "tagging tokens=tokens tags=tags",
        ),
        ({"words": TOKENS, "lemmas": TOKENS, "upos": TAGS}, "tagging tokens=words tags=upos"),
        (
            {"question": TEXT, "context": LONG, "answers": ANSWERS, "exact": [True, False] * 30},
            "question_answering question=question context=context answers=answers",
        ),
        (
            {"question": TEXT, "context": LONG, "answers": [[row] for row in ANSWERS]},
            "question_answering question=question context=context answers=answers",
        ),
        (
            {"question": TEXT, "context": LONG, "answer": [text[8:30] for text in LONG]},
            "question_answering question=question context=context answers=answer",
        ),
        (
            {"question": TEXT, "context": LONG, "answers": [[text[8:30], "x"][: n % 3] for n, text in enumerate(LONG)]},
            "question_answering question=question context=context answers=answers",
        ),
        ({"text": TEXT, "second": OTHER, "label": WORD}, "classification text=text second=second label=label"),
        (
            {"First text": TEXT, "second_text": OTHER, "label": WORD},
            "classification text=First text second=second_text label=label",
        ),
        (
            {"idx": ROW, "startphrase": TEXT, "sent1": OTHER, "ending1": TEXT, "ending0": OTHER, "label": WHOLE},
            "choice text=startphrase endings=ending0,ending1 label=label",
        ),
        (
            {"premise": TEXT, "choice1": TEXT, "choice2": OTHER, "question": ["cause", "effect"] * 30, "label": WHOLE},
            "choice text=premise endings=choice1,choice2 label=label",
        ),
        (
            {"ctx": TEXT, "ctx_a": OTHER, "endings": [["a", "b"]] * ROWS, "label": WHOLE},
            "choice text=ctx endings=endings label=label",
        ),
        (
            {"question": TEXT, "option_a": TEXT, "option_b": OTHER, "option_c": TEXT, "answer": WORD},
            "choice text=question endings=option_a,option_b,option_c label=answer",
        ),
        ({"source": TEXT, "target": OTHER, "target_lang": WORD}, "generation text=source target=target"),
        ({"id": ROW, "sentence": TEXT, "translation": OTHER}, "generation text=sentence target=translation"),
        (
            {"text": TEXT, "source": WORD, "target": WORD},
            "classification text=text label=target",
        ),  # a label, and where it is from
        ({"input": TEXT, "output": WORD}, "classification text=input label=output"),
        ({"article": TEXT, "summary": OTHER, "label": WORD}, "classification text=article label=label"),
        # by content alone
        ({"v1": WORD, "v2": TEXT}, "classification text=v2 label=v1"),
        ({"nr": ROW, "Betreff": OTHER, "Inhalt": LONG, "Art": WORD}, "classification text=Inhalt label=Art"),
        ({"Anliegen": TEXT, "Wert": [f"{value:.2f}" for value in PART]}, "regression text=Anliegen label=Wert"),
        (
            {"code": CODE, "文": ["これはとても良い映画でした" + str(n) for n in ROW], "類": WORD},
            "classification text=文 label=類",
        ),
    ],
)
def test_columns_with_one_interpretation_are_recognised(columns, expected):
    found = guess_columns(pa.table(columns), {})
    roles = {role: name if isinstance(name, str) else ",".join(name) for role, name in found.columns.items()}
    summary = [found.kind, *(f"{role}={name}" for role, name in roles.items())] + [f"mark={found.separator}"] * bool(
        found.separator
    )
    assert " ".join(summary) == expected


@pytest.mark.parametrize(
    "columns, message",
    [
        (
            {"title": TEXT, "text1x": OTHER, "label": WORD},
            "the text could be 'text1x' or 'title'; say which, e.g. --set data.text=text1x",
        ),
        ({"review": TEXT, "comment": OTHER, "label": WORD}, "the text could be 'review' or 'comment'"),
        (
            {"text": TEXT, "category": WORD, "stars": WHOLE},
            "the label could be 'category' or 'stars'; say which, e.g. --set data.label=category",
        ),
        ({"text": TEXT, "a": WORD, "b": WHOLE}, "the label could be 'a' or 'b'"),
        ({"text": TEXT}, "none looks like the label (there is: text); say which, e.g. --set data.label=COLUMN"),
        ({"id": ROW, "text": TEXT, "title": OTHER}, "none looks like the label"),
        ({"label": WORD}, "none looks like the text (there is: label); say which, e.g. --set data.text=COLUMN"),
        ({"a": ROW, "b": ROW}, "none looks like the text (there is: a, b); none looks like the label"),
        (
            {"premise_de": TEXT, "hypothesis_de": OTHER, "premise_en": TEXT, "hypothesis_en": OTHER, "label": WORD},
            "the text could be 'premise_de + hypothesis_de' or 'premise_en + hypothesis_en'; say which, e.g. --set data.text=premise_de",
        ),
        (
            {"tokens": TOKENS, "pos_tags": TAGS, "ner_tags": TAGS},
            "'pos_tags' or 'ner_tags' could be what is to be learnt; say which, e.g. --set data.tags=pos_tags",
        ),
        (
            {"text": TEXT, "intent": WORD, "tokens": TOKENS, "slots": TAGS},
            "'slots' or 'intent' could be what is to be learnt",
        ),
        (
            {"article": LONG, "question": TEXT, "options": [["a", "b"]] * ROWS, "answer": WORD},
            "the text could be 'question' or 'article'; say which",
        ),
        (
            {"text": TEXT, "label": ["a,b", "a", "b", "c", "a,c", "b", "c", "a", "b", "c,b"] * 6},
            "column 'label': cells may hold one label or several (mark ','); name the task",
        ),
        (
            {TEXT[0] + " of all": TEXT, "good": WORD},
            "the first row seems to hold no names ('The 0th film of this year was long and s', 'good'); write a header",
        ),
        ({f"t{number}": TEXT for number in range(9)} | {"label": WORD}, "or 3 more"),
    ],
)
def test_ambiguous_columns_are_rejected_with_candidates(columns, message):
    with pytest.raises(InputError) as caught:
        guess_columns(pa.table(columns), {})
    assert message in str(caught.value) and "\n" not in str(caught.value)


PAIRED = {
    "premise_de": TEXT,
    "hypothesis_de": OTHER,
    "premise_en": TEXT,
    "hypothesis_en": OTHER,
    "label": WORD,
    "other": WHOLE,
}
MIXED = {"text": TEXT, "intent": WORD, "tokens": TOKENS, "slots": TAGS, "pos": TAGS}


@pytest.mark.parametrize(
    "columns, given, kind, expected",
    [
        (
            PAIRED,
            {"text": "premise_en"},
            "",
            ("classification", {"text": "premise_en", "second": "hypothesis_en", "label": "label"}),
        ),
        (
            PAIRED,
            {"text": "premise_en", "label": "other"},
            "",
            ("classification", {"text": "premise_en", "second": "hypothesis_en", "label": "other"}),
        ),
        (
            PAIRED,
            {"second": "hypothesis_de", "label": "other"},
            "",
            ("classification", {"text": "premise_de", "second": "hypothesis_de", "label": "other"}),
        ),
        (
            PAIRED,
            {"text": "other", "second": "", "label": "label"},
            "",
            ("classification", {"text": "other", "label": "label"}),
        ),
        (MIXED, {"label": "intent"}, "", ("classification", {"text": "text", "label": "intent"})),
        (MIXED, {"tags": "slots"}, "", ("tagging", {"tokens": "tokens", "tags": "slots"})),
        (
            {"text": TEXT, "intent": WORD, "tokens": TOKENS, "slots": TAGS},
            {},
            "tagging",
            ("tagging", {"tokens": "tokens", "tags": "slots"}),
        ),
        (MIXED, {}, "classification", ("classification", {"text": "text", "label": "intent"})),
        ({"text": TEXT, "label": WHOLE}, {}, "regression", ("regression", {"text": "text", "label": "label"})),
        (
            {"text": TEXT, "label": ["a,b", "a", "b", "c", "a,c", "b"] * 10},
            {},
            "multilabel",
            ("multilabel", {"text": "text", "label": "label"}, ","),
        ),
        (
            {"text": TEXT, "label": ["a,b", "a", "b", "c", "a,c", "b"] * 10},
            {},
            "classification",
            ("classification", {"text": "text", "label": "label"}),
        ),
        (
            {"stem": TEXT, "x": TEXT, "z": OTHER, "right": WHOLE},
            {"endings": "z,x", "label": "right"},
            "",
            ("choice", {"text": "stem", "endings": ["z", "x"], "label": "right"}),
        ),
        ({"source": TEXT, "target": WORD}, {}, "generation", ("generation", {"text": "source", "target": "target"})),
        (
            {"q": TEXT, "c": LONG, "a": WORD},
            {"question": "q", "context": "c", "answers": "a"},
            "",
            ("question_answering", {"question": "q", "context": "c", "answers": "a"}),
        ),
    ],
)
def test_columns_named_by_the_user_take_precedence(columns, given, kind, expected):
    assert guess_columns(pa.table(columns), given, kind) == ColumnGuess(*expected)


@pytest.mark.parametrize(
    "given, kind, message",
    [
        ({"text": "texd"}, "", "data.text: there is no column 'texd', did you mean 'text'?"),
        ({"label": "zzz"}, "", "data.label: there is no column 'zzz'; there is: label, text"),
        ({"endings": "text,nope"}, "", "data.endings: there is no column 'nope'"),
        (
            {},
            "tagging",
            "none look like tagging (there is: text, label); say which: --set data.tokens=COLUMN --set data.tags=COLUMN",
        ),
        (
            {"tokens": "text", "label": "label"},
            "",
            "data.tokens, data.label: do not go together; roles: classification text, second, label;",
        ),
    ],
)
def test_columns_of_the_wrong_kind_are_rejected(given, kind, message):
    with pytest.raises(InputError) as caught:
        guess_columns(pa.table({"text": TEXT, "label": WORD}), given, kind)
    assert message in str(caught.value)


def test_unusual_csv_is_recognised(tmp_path):
    """Odd names, quoted line breaks, 50 labels of which one has 30 % of the rows, sorted by label."""
    labels = ["Ausfall; dringend" if number % 10 < 3 else f"Fall {number % 49}" for number in range(3000)]
    lines = [
        f'{7000 + number},"Guten Tag,\nes ""klemmt"" die Tür {number}\r\nseit gestern","{label}",2024-01-{number % 28 + 1:02d} 10:00\n'
        for number, label in enumerate(sorted(labels))
    ]
    (tmp_path / "x.csv").write_text("Vorgangs-Nr.,Was ist passiert?,Art/Typ,Eingang am\n" + "".join(lines))
    found = guess_columns(read_table(tmp_path / "x.csv"), {})
    assert found == ColumnGuess("classification", {"text": "Was ist passiert?", "label": "Art/Typ"})
