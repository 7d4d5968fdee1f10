"""The command line: one file per verb. stdout is data, stderr is progress, exit codes tell what happened."""


def main() -> None:
    """The program `niwaki`."""
    import sys

    from niwaki.cli._app import run

    code = run(sys.argv[1:])
    if "niwaki.data.time_limit" in sys.modules:
        sys.modules["niwaki.data.time_limit"].end_process(code)
    sys.exit(code)
