"""Finds the verb, runs it, and turns what went wrong into one line and an exit code."""

import errno
import os
import sys
from typing import Any

import typer
from typer.core import TyperGroup

from niwaki.core.catalog import Catalog
from niwaki.core.errors import InputError, NiwakiError, UsageError, did_you_mean, is_panic
from niwaki.core.extras import explain_missing
from niwaki.core.memory import is_out_of_memory
from niwaki.core.redaction import one_line
from niwaki.core.system import address_space_limit

VERBS = Catalog("niwaki.cli", what="verb", plugins=False)
PANELS = (
    "Compress",
    "Use",
    "Inspect",
    "Measure",
    "Extend",
)  # groups of verbs in the help; each verb's file names its own
ORDER = (
    "compress",
    "search",
    "run",
    "init",
    "check",
    "list",
    "show",
    "eval",
    "compare",
    "predict",
    "fill",
    "score",
    "sample",
    "nearest",
    "vectors",
    "align",
    "serve",
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
LOW_MEMORY = (
    "there is not enough memory; end other programs, lift the limit (`ulimit -v`), or choose a smaller model or batch"
)
# bytes of address space that the libraries of a verb map before any work
MAPPED = {
    **dict.fromkeys(("predict", "fill", "score", "sample", "nearest", "serve", "align", "vectors"), 450 << 20),
    **dict.fromkeys(("compress", "run", "search"), 3 << 30),
    **dict.fromkeys(("bench", "cascade", "check", "compare", "eval", "export", "tokenizer"), 3 << 29),
}
# typer contains its own copy of click, so the base class of its errors comes from typer
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

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Verbs by group, each with the whole first line of its file."""
        groups: dict[str, list[tuple[str, str]]] = {panel: [] for panel in PANELS}
        for name in self.list_commands(ctx):
            groups[getattr(VERBS.module(name), "PANEL", PANELS[-1])].append((name, VERBS.entry(name).description))
        width = max(len(name) for name in VERBS.names())
        for panel, rows in groups.items():
            with formatter.section(panel):
                formatter.write_dl([(name.ljust(width), description) for name, description in rows])


def program() -> Any:
    app = typer.Typer(cls=Verbs, add_completion=False, rich_markup_mode=None)

    @app.callback(invoke_without_command=True)
    def niwaki(
        context: typer.Context, version: bool = typer.Option(False, "--version", help="print the version and stop")
    ) -> None:
        """Makes language models smaller and faster for one task, and measures what that costs and saves.

        `niwaki compress MODEL --data ROWS` compresses a finished model. `niwaki run RECIPE` trains one and compresses it.
        """
        if version:
            from niwaki import __version__

            typer.echo(__version__)
            raise typer.Exit
        if context.invoked_subcommand is None:
            typer.echo(context.get_help())

    return typer.main.get_command(app)


def run(arguments: list[str]) -> int:
    """Runs the command line and returns its exit code. A traceback is shown only for bugs, and only with NIWAKI_DEBUG."""
    try:
        check_environment(arguments)
        with explain_missing():
            result = program().main(args=arguments, prog_name="niwaki", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except NiwakiError as error:
        return (
            _print_error(LOW_MEMORY, 1)
            if is_out_of_memory(error.__context__)
            else _print_error(str(error), error.exit_code)
        )
    except ClickException as error:
        about = error.ctx.command_path if getattr(error, "ctx", None) else "niwaki"
        return _print_error(
            f"{' '.join(error.format_message().split()).rstrip('.')}; `{about} --help` says what there is", 2
        )
    except (typer.Abort, KeyboardInterrupt):
        return _print_error(INTERRUPTED, Interruption.exit_code)
    except BrokenPipeError:
        sys.stdout = None  # the reader closed the pipe
        return 0
    except OSError as error:
        if is_out_of_memory(error):
            return _print_error(LOW_MEMORY, 1)
        code = InputError.exit_code if error.errno == errno.ENAMETOOLONG else 1  # what was given can be no file's name
        return _print_error(f"{error.filename or 'a file'}: {error.strerror or error}", code)
    except BaseException as error:
        if os.environ.get("NIWAKI_DEBUG") or not (isinstance(error, Exception) or is_panic(error)):
            raise
        if is_out_of_memory(error):
            return _print_error(LOW_MEMORY, 1)
        return _print_error(
            f"a fault of niwaki's own: {type(error).__name__}: {' '.join(str(error).split())[:300]} (NIWAKI_DEBUG=1 shows where)",
            1,
        )


def check_environment(arguments: list[str]) -> None:
    """Before a library is imported: what it would end the process over, in its own words or with none."""
    unreadable = [word for word in arguments if any("\ud800" <= sign <= "\udfff" for sign in word)]
    if unreadable:
        shown = unreadable[0].encode("utf-8", "backslashreplace").decode()
        raise InputError(f"'{shown}': is not UTF-8; rename the file, or write the text in UTF-8")
    verb = next((word for word in arguments if not word.startswith("-")), "")
    if verb not in MAPPED or "--help" in arguments:
        return
    try:
        os.getcwd()  # noqa: PTH109 - only whether it is there
    except OSError as error:
        raise InputError(f"the working directory is gone ({error.strerror}); `cd` to one that is there") from None
    limit = address_space_limit()
    if limit is not None and limit < MAPPED[verb]:
        raise InputError(
            f"the limit on address space (`ulimit -v`) is {limit >> 20} MB of memory, and `niwaki {verb}` needs {MAPPED[verb] >> 20} MB; lift it"
        )


def _print_error(text: str, code: int) -> int:
    for line in text.splitlines() or [text]:
        sys.stderr.write(f"niwaki: {one_line(line)}\n")
    return code
