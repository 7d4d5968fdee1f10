"""XQuAD: tested on articles that SQuAD's train rows do not have."""

import pytest

from niwaki.core.errors import InputError
from niwaki.tasks.xquad import Xquad
from tasks.rows import TEXTS, counts, folder


def questions(titles, language, count=60):
    rows = []
    for number in range(count):
        context = f"{TEXTS[number % 80]} {language} It was in {1900 + number}."
        answer = {"text": [str(1900 + number)], "answer_start": [context.index(str(1900 + number))]}
        rows.append(
            {
                "id": f"{number}",
                "title": titles[number % len(titles)],
                "context": context,
                "question": f"when {language} {number}?",
                "answers": answer,
            }
        )
    return rows


TITLES = [f"article {number}" for number in range(30)]


def test_articles_of_the_train_rows_are_not_tested(tmp_path):
    folder(tmp_path / "squad", train=questions(TITLES[:20], "en"), validation=questions(TITLES[20:], "en"))
    folder(
        tmp_path / "xquad_12lang",
        **{f"validation.{language}": questions(TITLES, language) for language in ("en", "de", "zh")},
    )
    task = Xquad(path=str(tmp_path))
    found = counts(task)
    assert found["train"] + found["validation"] == 60 and (found["test"], found["de"], found["zh"]) == (20, 20, 20)
    assert set(task.splits()["de"].column("text").to_pylist()) == set(TITLES[20:])
    assert set(counts(Xquad(path=str(tmp_path), languages=["zh"]))) == {"train", "validation", "test", "zh"}


def test_missing_train_rows_are_named(tmp_path):
    folder(tmp_path / "xquad_12lang", **{"validation.en": questions(TITLES, "en")})
    with pytest.raises(InputError, match=r"has no train rows; add SQuAD as .*squad"):
        Xquad(path=str(tmp_path)).splits()
