"""The command line: one file per verb. stdout is data, stderr is progress, exit codes tell what happened."""


def main() -> None:
    """The program `niwaki`."""
    import sys

    from niwaki.core import signals

    signals.own_process()
    try:
        code = _run(sys.argv[1:])
    except KeyboardInterrupt:  # before the verb began, or while its message was written
        sys.stderr.write("niwaki: interrupted\n")
        code = signals.INTERRUPTED
    if "niwaki.tokenization.time_limit" in sys.modules:
        sys.modules["niwaki.tokenization.time_limit"].end_process(code)
    sys.exit(code)


def _run(words: list[str]) -> int:
    from niwaki.cli._app import run

    return run(words)
