"""`niwaki measure`: the energy of any command."""

import json


def test_output_and_exit_code_are_passed_on(niwaki):
    result = niwaki("measure", "--", "sh", "-c", "echo hello; exit 7")
    assert (result.code, result.out) == (7, "hello\n")
    assert "CPU s in" in result.err


def test_json_is_alone_on_stdout_and_secrets_are_redacted(niwaki):
    result = niwaki("measure", "--json", "--repeats", "2", "--place", "FRA", "--", "echo", "hello", "--token", "s3cr3t")
    value = json.loads(result.out)
    assert value["command"] == ["echo", "hello", "--token", "***"]
    assert "hello" in result.err and value["exit_code"] == 0 and len(value["readings"]) == 2
    assert value["total"]["co2e_grams"] is not None


def test_published_costs_are_printed(niwaki):
    value = json.loads(niwaki("measure", "--reference", "--json").out)
    assert {"strubell", "patterson", "equivalents"} <= set(value)
    assert "BERT base" in niwaki("measure", "--reference").out
