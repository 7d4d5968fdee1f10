"""Remarks on rows and vocabularies before a run starts."""

from dataclasses import dataclass, field

import tiny
from niwaki.run.remarks import CHARACTERS, remarks, texts_of
from niwaki.run.validation.draft import Draft
from niwaki.tasks.classification import Classification
from tasks.rows import folder

SECOND = "Городской совет обсудил в понедельник новый бюджет публичных библиотек."


@dataclass
class Recipe:
    model: str = "tiny"
    faulty: list[str] = field(default_factory=list)


def drafted(path, **parts):
    rows = [{"text": text, "label": label} for text, label in tiny.sentences(60)]
    task = Classification(path=folder(path, train=rows[:40], validation=rows[40:50], test=rows[50:], **parts))
    return Draft(Recipe(), task=task, tokenizers={"tiny": tiny.tokenizer().backend_tokenizer})


def test_a_further_test_set_in_a_language_that_the_model_does_not_know_is_named(tmp_path):
    draft = drafted(
        tmp_path,
        test_ru=[{"text": f"{SECOND} {n}", "label": "good"} for n in range(6)],
        test_more=[{"text": "the film was good", "label": "good"}],
    )
    found = [remark for remark in remarks(draft) if "vocabulary" in remark]
    assert len(found) == 1 and "model 'tiny': its vocabulary does not fit the test sets test_ru (" in found[0]
    assert "test_more" not in found[0]
    assert not [remark for remark in remarks(drafted(tmp_path / "other")) if "vocabulary" in remark]


def test_only_the_beginnings_of_the_first_texts_are_read(tmp_path):
    task = drafted(tmp_path, test_long=[{"text": "a" * (CHARACTERS + 5), "label": "good"}] * 3).task
    assert [len(text) for text in texts_of(task, "test_long", 2)] == [CHARACTERS] * 2
