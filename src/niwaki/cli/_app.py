"""Finds the verb, runs it, and turns what went wrong into one line and an exit code."""

import errno
import os
import sys
from typing import Any

import typer
from typer.core import TyperGroup

from niwaki.core.catalog import Catalog
from niwaki.core.errors import NiwakiError, Refused, UsageError, did_you_mean, is_panic
from niwaki.core.masking import one_line

VERBS = Catalog("niwaki.cli", what="verb")
ORDER = (
    "run",
    "check",
    "list",
    "show",
    "eval",
    "predict",
    "export",
    "cascade",
    "tokenizer",
    "bench",
    "report",
    "measure",
    "ledger",
    "new",
)
INTERRUPTED = "interrupted; what was finished is kept, the same command goes on from there"
# typer carries a click of its own, whose errors are not those of the package `click`: the base is asked of typer
ClickException: Any = typer.BadParameter.__mro__[2]


class Interruption(NiwakiError):
    """Ctrl-C, in a form that typer does not swallow."""

    exit_code = 130


class Verbs(TyperGroup):
    """The files of this folder are the verbs; one is imported when it is used."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            raise Interruption(str(stop) or INTERRUPTED) from None

    def list_commands(self, ctx: Any) -> list[str]:
        names = VERBS.names()
        return [name for name in ORDER if name in names] + [name for name in names if name not in ORDER]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in VERBS.names():
            raise UsageError(f"'{cmd_name}' is not a verb{did_you_mean(cmd_name, VERBS.names())}")
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        app.command(cmd_name)(VERBS.module(cmd_name).command)
        return typer.main.get_command(app)


def program() -> Any:
    app = typer.Typer(cls=Verbs, add_completion=False, rich_markup_mode=None)

    @app.callback(invoke_without_command=True)
    def niwaki(
        context: typer.Context, version: bool = typer.Option(False, "--version", help="print the version and stop")
    ) -> None:
        """Shapes a pretrained language model down to what a task needs, and says what that cost and saves.

        `niwaki run` alone makes a teacher, a student, a pruned and an int8 model of the embedded example.
        """
        if version:
            from niwaki import __version__

            typer.echo(__version__)
            raise typer.Exit
        if context.invoked_subcommand is None:
            typer.echo(context.get_help())

    return typer.main.get_command(app)


def run(arguments: list[str]) -> int:
    """Runs the command line and gives its exit code; only a fault of niwaki's own shows a traceback, and only if asked."""
    try:
        result = program().main(args=arguments, prog_name="niwaki", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except NiwakiError as error:
        return _say(str(error), error.exit_code)
    except ClickException as error:
        about = error.ctx.command_path if getattr(error, "ctx", None) else "niwaki"
        return _say(f"{' '.join(error.format_message().split()).rstrip('.')}; `{about} --help` says what there is", 2)
    except (typer.Abort, KeyboardInterrupt):
        return _say(INTERRUPTED, Interruption.exit_code)
    except BrokenPipeError:
        sys.stdout = None  # the reader left; nothing more can be said to it
        return 0
    except OSError as error:
        code = Refused.exit_code if error.errno == errno.ENAMETOOLONG else 1  # what was given can be no file's name
        return _say(f"{error.filename or 'a file'}: {error.strerror or error}", code)
    except BaseException as error:
        if os.environ.get("NIWAKI_DEBUG") or not (isinstance(error, Exception) or is_panic(error)):
            raise
        return _say(
            f"a fault of niwaki's own: {type(error).__name__}: {' '.join(str(error).split())[:300]} (NIWAKI_DEBUG=1 shows where)",
            1,
        )


def _say(text: str, code: int) -> int:
    for line in text.splitlines() or [text]:
        sys.stderr.write(f"niwaki: {one_line(line)}\n")
    return code
