"""What is shown to people: one line, printable, and nobody's password."""

import pytest

from niwaki.core import log
from niwaki.core.errors import InputError, NiwakiError, first_line
from niwaki.core.redaction import MAX_CHARACTERS, one_line, redact, redact_words

SECRET = "s3cr3t-Pa55word"


@pytest.mark.parametrize(
    "text",
    [
        f"cannot reach https://me:{SECRET}@hub.example/api",
        f"git+ssh://{SECRET}@host/x",
        f"GET https://hub.example/x?token={SECRET}&page=2",
        f"https://hub.example/x?a=1&signature={SECRET}",
        f"header Authorization: Bearer {SECRET}",
        f"{{'authorization': 'Basic {SECRET}'}}",
        f"login with password={SECRET};",
        "token hf_abcdefghijklmnopqrstuvwx" + SECRET.replace("-", ""),
    ],
)
def test_secrets_are_masked(text):
    shown = redact(text)
    assert SECRET not in shown and SECRET.replace("-", "") not in shown and "***" in shown
    assert SECRET not in str(InputError(f"model 'x': {text}"))
    assert SECRET not in first_line(NiwakiError(text))


@pytest.mark.parametrize(
    "text",
    [
        "tokenizer.json: token 'lovely' is there twice",
        "data.token: unknown key, did you mean 'tokens'?",
        "stages.0.train.epochs: input should be greater than 0 (given: -1)",
        "mail me@example.org, see https://example.org/a@b",
    ],
)
def test_other_texts_stay(text):
    assert redact(text) == text == one_line(text)


def test_a_command_is_shown_without_its_secrets():
    words = [
        "curl",
        "--hub-token",
        SECRET,
        "-u",
        "me",
        "--api_key",
        SECRET,
        f"--password={SECRET}",
        f"https://me:{SECRET}@hub",
        "--tokens",
        "3",
    ]
    assert redact_words(words) == [
        *(
            "curl",
            "--hub-token",
            "***",
            "-u",
            "me",
            "--api_key",
            "***",
            "--password=***",
            "https://***@hub",
            "--tokens",
            "3",
        )
    ]
    assert redact_words([]) == [] and redact_words(["--token"]) == ["--token"]


def test_a_cut_does_not_lay_a_secret_open():
    assert SECRET[:6] not in first_line(ValueError("x" * 180 + f" https://me:{SECRET * 3}@hub.example"))


def test_a_line_is_one_line_that_no_terminal_obeys():
    text = one_line("tensor 'a\nb\x1b[2J\u202egnp\u2028x' \ud800 is missing")
    assert text.isprintable() and "missing" in text
    assert len(one_line("x" * 10_000 + "end")) <= MAX_CHARACTERS + 3


def test_faults_beyond_number_are_counted():
    lines = str(InputError([f"fault {k}" for k in range(100)])).splitlines()
    assert len(lines) == 41 and "60 faults more" in lines[-1]


def test_progress_is_masked(capsys):
    log.quiet(False)
    try:
        log.info(f"fetching https://me:{SECRET}@hub.example/x")
    finally:
        log.quiet()
    assert SECRET not in capsys.readouterr().err
