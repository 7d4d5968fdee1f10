"""Terminology: names and prose use the field's terms, not the ones that were retired."""

import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from house.sources import ROOT, check, text_of, tracked

# retired term → what to write instead; rejected as a word of an identifier
IDENTIFIERS = {
    **dict.fromkeys(("pieces",), "tokens, vocabulary"),
    **dict.fromkeys(("marks",), "special_tokens"),
    **dict.fromkeys(("insides",), "activations"),
    **dict.fromkeys(("lens", "lenses"), "parametrization"),
    **dict.fromkeys(("sureness",), "confidence"),
    **dict.fromkeys(("rivals",), "candidate_logits"),
    **dict.fromkeys(("heat",), "temperature"),
    **dict.fromkeys(("outcome", "outcomes"), "example_stats"),
    **dict.fromkeys(("settled",), "tuned"),
    **dict.fromkeys(("exam",), "evaluation split"),
    **dict.fromkeys(
        ("said", "told", "made", "kept", "beside"), "the thing: model, prediction, message, cached, sibling"
    ),
    **dict.fromkeys(("ripe",), "min_progress"),
    **dict.fromkeys(("forgets",), "resets_head"),
    **dict.fromkeys(("rehearse", "rehearsal"), "dry_run"),
    **dict.fromkeys(("feed",), "collator"),
    **dict.fromkeys(("shelf",), "teacher cache"),
    **dict.fromkeys(("ladder", "rung", "rungs", "climb"), "baselines"),
    **dict.fromkeys(("lowbit",), "rtn"),
    **dict.fromkeys(("silicon",), "cpu_features"),
    **dict.fromkeys(("mend",), "fix"),
    **dict.fromkeys(("refuse", "refused", "refuses"), "reject"),
    **dict.fromkeys(("asked", "asks"), "requested, query, target"),
    **dict.fromkeys(("writes", "writer", "wrote"), "seq2seq, generates"),
}
# rejected as a word of a comment, docstring, message or page
PROSE = {
    **{word: IDENTIFIERS[word] for word in ("said", "told", "beside", "pieces", "insides", "lens", "exam", "asked")},
    **dict.fromkeys(("rung", "rungs", "ladder"), "baselines"),
    **dict.fromkeys(("ripe", "sureness"), "min_progress, confidence"),
    **dict.fromkeys(("rehearse", "rehearses", "rehearsed"), "dry run"),
    **dict.fromkeys(("mend", "mended", "mending"), "fix"),
    **dict.fromkeys(("refuse", "refuses", "refused"), "reject"),
}
ALLOWED = {
    "RaggedWriter",
    "DictWriter",
    "writer",  # csv.writer
    "feed",  # HTMLParser.feed
    "connection_made",  # asyncio.Protocol
    "ConnectionRefusedError",
    "marks",  # pytest.param(marks=)
    *("kept", "kept_low", "kept_high"),  # the share of a score that a model keeps
    "niwaki_fill_pieces",  # a symbol of the C library
}
UNCHECKED = (
    "benchmarks/",
    "docs/diary",
    "docs/results",
    "CHANGELOG",
    "tests/house/test_terms.py",
    "src/niwaki/core/renamed.py",  # old names of settings
)  # measured, historical


@cache
def words_of(identifier: str) -> list[str]:
    """`EncoderLayer` → encoder, layer. Feed-forward is one term."""
    if identifier in ALLOWED:
        return []
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", identifier).lower()
    return re.findall("[a-z]+", snake.replace("feed_forward", ""))


def may_hold_retired_terms(text: str) -> bool:
    """A quick look without regard to what is a name and what prose: most files need no tokens."""
    names = set(re.findall(r"[A-Za-z_]\w*", text))
    return any(PROSE.keys() & {name.lower()} or IDENTIFIERS.keys() & words_of(name) for name in names)


def retired_in_python(text: str) -> Iterator[str]:
    if not may_hold_retired_terms(text):
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME:
            for word in IDENTIFIERS.keys() & words_of(token.string):
                yield f"line {token.start[0]}: '{token.string}' ('{word}' is retired: {IDENTIFIERS[word]})"
        elif token.type in (tokenize.COMMENT, tokenize.STRING):
            yield from retired_in_prose(token.string, token.start[0])


def retired_in_prose(text: str, first: int = 1) -> Iterator[str]:
    for number, line in enumerate(text.splitlines(), first):
        for word in re.findall("[A-Za-z]+", line):
            if word.lower() in PROSE:
                yield f"line {number}: '{word}' is retired: {PROSE[word.lower()]}"


def checked_files() -> list[Path]:
    files = [path for path in tracked() if path.suffix in (".py", ".md", ".j2", ".toml")]
    return [path for path in files if not path.relative_to(ROOT).as_posix().startswith(UNCHECKED)]


def retired(path: Path) -> Iterator[str]:
    return retired_in_python(text_of(path)) if path.suffix == ".py" else retired_in_prose(text_of(path))


def test_files_use_no_retired_term():
    check(checked_files(), retired)


@pytest.mark.parametrize(
    "text",
    [
        "said = 1",
        "def ask_asked(): ...",
        "class KeptRows: ...",
        "x = 1  # what was told",
        '"""Refused here."""',
        "f'mend {x}'",
    ],
)
def test_a_retired_term_is_found(text):
    assert list(retired_in_python(f"{text}\n"))


@pytest.mark.parametrize(
    "text", ["class FeedForward: ...", "feed_forwards = 1", "makes = 1  # WordPiece, outcome", "x.feed(1)"]
)
def test_current_terms_are_accepted(text):
    assert not list(retired_in_python(f"{text}\n"))


def test_prose_is_checked_line_by_line():
    assert list(retired_in_prose("one\nwhat it Said\n")) == [f"line 2: 'Said' is retired: {PROSE['said']}"]
