"""Patterns of tokenizers: what is well known, and what is rejected before it is tried out."""

import pytest

from niwaki.tokenization.patterns import PUBLISHED, fault_in_pattern, is_published


@pytest.mark.parametrize(
    "pattern",
    [
        *PUBLISHED,
        r"(?i:'s|'t)|[^\r\n\p{L}]?\p{L}+",
        r"[\[\]]+",
        "[]a]+",
        r"(?:a|b){1,3}",
        r"\(+",
        "a+?b",
        "a++b",
        "(?:a+b)+",
        r"\{5000}",
    ],
)
def test_usual_patterns_have_no_fault(pattern):
    assert fault_in_pattern(pattern) is None


@pytest.mark.parametrize(
    "pattern, words",
    [
        (r"(a)\1", "refers back"),
        (r"(?R)", "refers back"),
        (r"(?<x>a)\g<x>", "refers back"),
        ("a{5000}", "repeats more than"),
        ("a{0,99999}", "repeats more than"),
        ("a{99999,}", "repeats more than"),
        ("a" * 1001, "more than 1000 characters"),
    ],
)
def test_patterns_beyond_the_limits_are_rejected(pattern, words):
    assert words in str(fault_in_pattern(pattern))


def test_a_pattern_is_published_to_the_letter():
    assert is_published(" {2,}") and not is_published(" {3,}") and not is_published("( {2,})*")
