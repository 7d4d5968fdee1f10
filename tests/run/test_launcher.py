"""Launchers: how many processes there are, and what is rejected before they connect."""

from types import SimpleNamespace

import pytest

from niwaki.core.errors import InputError
from niwaki.run.launcher import check_launcher, check_stages, is_first, started
from niwaki.train.settings import TrainSettings


def test_the_launcher_says_how_many_processes_there_are(monkeypatch):
    assert started() == 1 and is_first()
    monkeypatch.setenv("WORLD_SIZE", "3")
    monkeypatch.setenv("RANK", "2")
    assert started() == 3 and not is_first()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("ACCELERATE_USE_FSDP", "true", "FSDP stores a part of each matrix"),
        ("ACCELERATE_USE_DEEPSPEED", "true", "DeepSpeed brings its own optimizer"),
        ("ACCELERATE_MIXED_PRECISION", "fp16", "set train.precision instead"),
    ],
)
def test_what_the_training_does_not_do_is_rejected(monkeypatch, name, value, message):
    check_launcher()
    monkeypatch.setenv(name, value)
    with pytest.raises(InputError, match=message):
        check_launcher()


def test_a_stage_with_fewer_micro_shards_than_processes_is_rejected(monkeypatch):
    stages = [SimpleNamespace(spec=SimpleNamespace(train=train)) for train in (None, TrainSettings(micro_shards=2))]
    plan = SimpleNamespace(stages=stages)
    monkeypatch.setenv("WORLD_SIZE", "2")
    check_stages(plan)
    monkeypatch.setenv("WORLD_SIZE", "3")
    with pytest.raises(
        InputError, match=r"stages.1.train.micro_shards: is 2, and 3 processes were started; set it to 3 or more"
    ):
        check_stages(plan)


def test_all_processes_reject_and_the_first_one_says_so(monkeypatch):
    monkeypatch.setenv("ACCELERATE_USE_FSDP", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", "1")
    with pytest.raises(SystemExit) as ended:
        check_launcher()
    assert ended.value.code == 3
