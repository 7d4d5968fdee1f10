"""Text that may be shown: one line, printable, of a length a person reads, and without anybody's password in it.

Names in error messages come from untrusted files, and reasons from libraries that repeat the URL they requested.
"""

import re

MAX_CHARACTERS = 1500
HIDDEN = "***"
UNSHOWN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]+")
IN_ADDRESS = re.compile(r"(?<=://)[^/\s@'\"]+@")  # https://user:password@host
NAMED = re.compile(
    r"(?i)((?:\b(?:token|access_token|api_?key|password|passwd|secret|signature|sig)=|\bauthorization['\"]?:\s*['\"]?"
    r"(?:bearer\s+|basic\s+)?|\bbearer\s+))[^\s'\"&,;)]{4,}"
)
BEFORE = re.compile(
    r"(?i)--?(?:[\w-]*[-_])?(?:token|api[-_]?key|password|passwd|pass|secret)"
)  # the word after it is one
TOKEN = re.compile(r"\b(?:hf|gh[pousr]|sk|api_org)[_-][A-Za-z0-9_-]{16,}")  # as hubs and services write them


def redact(text: str) -> str:
    """The text without passwords in addresses, tokens, and values that are called a secret."""
    text = IN_ADDRESS.sub(f"{HIDDEN}@", text)
    text = TOKEN.sub(HIDDEN, text)
    return NAMED.sub(rf"\1{HIDDEN}", text)


def redact_words(words: list[str]) -> list[str]:
    """A command as words, without the secrets in its options (`--token=…`, `--token …`)."""
    before = ["", *words]
    return [HIDDEN if BEFORE.fullmatch(last) else redact(word) for last, word in zip(before, words, strict=False)]


def one_line(text: str) -> str:
    """`redact`, with line breaks and characters that steer a terminal made visible as one blank, and cut in the middle."""
    text = UNSHOWN.sub(" ", redact(text[: 4 * MAX_CHARACTERS])).strip()
    half = MAX_CHARACTERS // 2
    return text if len(text) <= MAX_CHARACTERS else f"{text[:half]} … {text[-half:]}"
