"""Exceptions with their exit codes. A message is one line: the thing, the rule, the fix."""

from collections.abc import Sequence

from niwaki.core.redaction import one_line, redact
from niwaki.core.renamed import new_name

MAX_FAULTS = 40


class NiwakiError(Exception):
    """Something failed that no other class describes."""

    exit_code = 1


class UsageError(NiwakiError):
    """The command or call itself was put wrongly."""

    exit_code = 2


class InputError(NiwakiError):
    """The input was rejected. Carries one message per fault, so that all can be fixed at once."""

    exit_code = 3

    def __init__(self, faults: str | Sequence[str]) -> None:
        self.faults = [one_line(fault) for fault in ([faults] if isinstance(faults, str) else faults)]
        if len(self.faults) > MAX_FAULTS:
            self.faults[MAX_FAULTS:] = [f"… and {len(self.faults) - MAX_FAULTS} faults more"]
        super().__init__("\n".join(self.faults))


class GateMissed(NiwakiError):
    """The work is complete and its quality is below the required one."""

    exit_code = 4


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """`, did you mean 'x'?` for a near miss, the new name of a renamed word, or else the list of known names."""
    from difflib import get_close_matches

    if renamed := new_name(word, known):
        return f"; it is now called '{renamed}'"

    near = get_close_matches(word, known, n=1, cutoff=0.6)
    return f", did you mean '{near[0]}'?" if near else f"; there is: {', '.join(sorted(known))}"


def first_line(error: BaseException) -> str:
    """What another library says went wrong, in one line of ours."""
    lines = redact(str(error)).strip().splitlines() or [type(error).__name__]  # masked before a cut can hide its end
    return one_line(lines[0])[:200]


def is_panic(error: BaseException) -> bool:
    """Whether a library written in Rust gave up: its exception is deliberately none that programs catch."""
    return type(error).__name__ == "PanicException"
