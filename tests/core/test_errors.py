"""Errors: exit codes, suggestions, one line per fault."""

from niwaki.core.errors import GateMissed, InputError, NiwakiError, UsageError, did_you_mean


def test_every_error_has_its_exit_code():
    assert [kind.exit_code for kind in (NiwakiError, UsageError, InputError, GateMissed)] == [1, 2, 3, 4]


def test_near_names_are_suggested_and_others_listed():
    assert did_you_mean("sparcity", ["sparsity", "size"]) == ", did you mean 'sparsity'?"
    assert did_you_mean("zzz", ["b", "a"]) == "; there is: a, b"
