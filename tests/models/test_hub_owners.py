"""Names of models without their owner."""

import pytest

from niwaki.core.errors import InputError
from niwaki.models.hub_owners import OWNERS, with_owner
from niwaki.models.sources import locate


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("bert-base-uncased", "google-bert/bert-base-uncased"),
        ("roberta-large", "FacebookAI/roberta-large"),
        ("xlm-roberta-base", "FacebookAI/xlm-roberta-base"),
        ("distilbert-base-uncased", "distilbert/distilbert-base-uncased"),
        ("all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"),
        ("MiniLM-L12-H384-uncased", "microsoft/MiniLM-L12-H384-uncased"),
        ("minilmm", "minilm"),
    ],
)
def test_the_full_id_is_suggested(name, meant):
    with pytest.raises(InputError, match=f"did you mean '{meant}'"):
        locate(name)


@pytest.mark.parametrize("name", ["something-else", "google-bert/bert-base-uncased", "bert"])
def test_other_names_are_left_alone(name):
    assert with_owner(name) == ""


def test_no_start_hides_another():
    for start, owner in OWNERS.items():
        assert with_owner(f"{start}x") == f"{owner}/{start}x"
