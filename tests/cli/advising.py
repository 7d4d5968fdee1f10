"""Reads the advice out of a message: a suggested word, setting, option or command; and what the command line looks like with it."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

WORD = re.compile(r", did you mean '([^']+)'\?")
COMMAND = re.compile(r"`((?:niwaki|python -m niwaki|pip install|chmod)\b[^`]*)`")
SHELL_WORD = r"""(?:'[^']*'(?:"'"'[^']*')*|[^\s'`,;()]+)"""
OPTIONS = re.compile(rf"(?:--set|--data) {SHELL_WORD}(?: (?:--set|--data) {SHELL_WORD})*")


@dataclass(frozen=True)
class Advice:
    kind: str  # word, option, command
    text: str  # what to write
    wrong: str = ""  # of a word: what to write it in the place of


def advice_in(message: str) -> list[Advice]:
    """All that a message suggests. An override that the message is about, which it begins with, is none."""
    line = message.removeprefix("niwaki: ")
    words = [Advice("word", match[1], wrong_word(line[: match.start()])) for match in WORD.finditer(line)]
    commands = [Advice("command", match[1]) for match in COMMAND.finditer(line)]
    rest = COMMAND.sub("", line)
    options = [Advice("option", match[0]) for match in OPTIONS.finditer(rest) if match.start()]
    return [*words, *commands, *options]


def wrong_word(before: str) -> str:
    """The word in the place of which another is suggested: the last part of an unknown key, the value of an option, or the last
    thing in quotes."""
    if match := re.search(r"([\w.-]+): unknown key$", before):
        return match[1].rpartition(".")[2]
    if match := re.match(r"--(?:stream|to) (\S+):", before):
        return match[1]
    return re.findall(r"'([^']+)'", before)[-1]


def followed(arguments: list[str], advice: Advice) -> list[str]:
    """The command line that follows the advice; a wrong word is replaced in the recipes that are named, too."""
    if advice.kind == "word":
        for path in (Path(one) for one in arguments if one.endswith(".toml")):
            if path.is_file():
                path.write_text(put_right(path.read_text(), advice))
        return [put_right(one, advice) for one in arguments]
    if advice.kind == "command":
        return shlex.split(advice.text)
    options = shlex.split(advice.text)
    remaining = [one for one in arguments if one not in options] if options[0] == "--data" else arguments
    return [*remaining, *options]


def put_right(text: str, advice: Advice) -> str:
    return re.sub(rf"(?<![\w-]){re.escape(advice.wrong)}(?![\w-])", advice.text, text)
