"""Regular expressions of tokenizers: those in use are taken, those that never end are not."""

import pytest

from niwaki.data.patterns import fault_in_pattern


@pytest.mark.parametrize(
    "pattern",
    [
        " {2,}", r"\s+(?!\S)|\s+", r" ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+", r"(?i:'s|'t)|[^\r\n\p{L}]?\p{L}+|\p{N}{1,3}",
        r"[\[\]]+", "[]a]+", r"(?:ab)?c", r"(?:a|b){1,3}", r"\(+", "[[:alpha:]]+x", "a+?b", "a++b",
    ],
)  # fmt: skip
def test_patterns_that_end(pattern):
    assert fault_in_pattern(pattern) is None


@pytest.mark.parametrize(
    "pattern, words",
    [
        ("(a+)+$", "repeats a repeat"),
        ("(a*)*", "repeats a repeat"),
        ("(?:[^)]+)*x", "repeats a repeat"),
        ("((a+)b?)*", "repeats a repeat"),
        ("(a|b+){2,}", "repeats a repeat"),
        ("(?:a+){10}", "repeats a repeat"),
        (r"(a)\1", "refers back"),
        (r"(?R)", "refers back"),
        ("a{5000}", "repeats more than"),
        ("a{0,99999}", "repeats more than"),
        ("a{99999,}", "repeats more than"),
        ("a" * 1001, "more than 1000 characters"),
        ("(" * 30 + "a" + ")" * 5, "groups open"),
    ],
)
def test_patterns_that_do_not(pattern, words):
    assert words in str(fault_in_pattern(pattern))
