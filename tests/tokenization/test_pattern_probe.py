"""Slow patterns are found by running them, fast ones pass in little time."""

import time

import pytest

from niwaki.tokenization import pattern_probe
from niwaki.tokenization.pattern_probe import signs_of, slow_pattern
from niwaki.tokenization.patterns import PUBLISHED

O200K = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"


@pytest.mark.parametrize(
    "pattern",
    [
        "(a|a)*",
        "(a|a)*b",
        "(a|aa)+$",
        "(a+)+$",
        "(a*)*",
        "((a+)b?)*",
        "(?:x+x+)+y",
        r"(\w|\d)*!",
        r"(?:\p{Greek}|\p{Greek})*x",
        r"(\x{1F600}|\x{1F600})*",
        r"(\u00e4|ä)*",
        "a*a*[bc]",  # takes seconds; with one more `a*` the abandoned thread would run for minutes
    ],
)
def test_patterns_with_many_ways_to_match_are_slow(pattern):
    began = time.process_time()
    assert slow_pattern(["a+", pattern, "b+"]) == pattern
    assert time.process_time() - began < 10


def test_usual_patterns_end_in_time():
    began = time.process_time()
    usual = [*PUBLISHED, O200K, r"\w+|[^\w\s]+", "[0-9]{1,3}(?=(?:[0-9]{3})*(?![0-9]))", "(?:[A-Z][a-z]+)+"]
    assert [pattern for pattern in usual if slow_pattern([pattern])] == []
    assert time.process_time() - began < 10


def test_the_second_is_for_all_patterns_together(monkeypatch):
    monkeypatch.setattr(pattern_probe, "SECONDS", 0.05)
    assert slow_pattern([f"{O200K}|{number}" for number in range(50)])


def test_patterns_that_the_engine_does_not_read_are_left_to_it():
    assert slow_pattern(["(a", "[b"]) is None


def test_characters_are_those_that_a_pattern_names():
    assert {"ß", "\N{GRINNING FACE}", "q"} <= set(signs_of(r"q\x{1F600}|ß|\xdf"))


def test_nothing_is_printed_where_the_engine_gives_up(capfd):
    assert slow_pattern(["(a|a)*"])
    assert capfd.readouterr() == ("", "")
