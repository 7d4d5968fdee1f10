"""Claimed and measured savings."""

import pytest

from niwaki.report.savings import remark, savings


def stage(name, parent, saves, **figures):
    return {"name": name, "parent": parent, "finished": True, "reduces": saves, "methods": [{"use": "x"}], **figures}


def test_ratios_are_against_the_stage_it_started_from():
    first = stage("a", None, [], bytes=100.0, memory=50.0, flops=10.0, throughput=4.0)
    second = stage("b", "a", ["file", "time"], bytes=25.0, memory=None, flops=10.0, throughput=8.0)
    (row,) = savings({"stages": [first, second]})
    assert row["ratios"] == {"file": 4.0, "memory": None, "flops": 1.0, "time": 2.0}
    assert row["remark"] == "" and row["claims"] == ["file", "time"]


@pytest.mark.parametrize(
    "claims, ratios, words",
    [
        (["file", "time"], {"file": 2.0, "memory": 1.0, "flops": 1.0, "time": 1.01}, "on paper only: time"),
        (["file"], {"file": 2.0, "memory": 1.0, "flops": 1.0, "time": 0.98}, "smaller, not faster"),
        (["file", "flops"], {"file": 1.0, "memory": 1.0, "flops": 1.3, "time": 1.2}, "on paper only: file"),
        (["file", "memory"], {"file": 3.0, "memory": None, "flops": 1.0, "time": None}, ""),
    ],
)
def test_unmeasured_claims_are_named(claims, ratios, words):
    assert remark(claims, ratios) == words
