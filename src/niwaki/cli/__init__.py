"""The command line: one file per verb. stdout is data, stderr is progress, exit codes tell what happened."""


def main() -> None:
    """The program `niwaki`."""
    import sys

    from niwaki.cli._app import run

    sys.exit(run(sys.argv[1:]))
