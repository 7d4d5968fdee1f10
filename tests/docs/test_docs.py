"""Documentation pages: commands parse, links resolve, code blocks are valid, names exist."""

import ast
import re
import shlex
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from niwaki.cli._app import VERBS, program
from niwaki.core.errors import InputError
from niwaki.core.settings import check
from niwaki.engines import RUNTIMES
from niwaki.methods import METHODS
from niwaki.run.recipe import parse
from niwaki.tasks import TASKS

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
START = re.compile(r"(?<![\w.])niwaki ")  # and not the end of a file's name
INLINE = re.compile(r"`(niwaki [^`]+)`")
SOURCE = ROOT / "src" / "niwaki"
SOURCE_FOLDERS = (ROOT, SOURCE, SOURCE / "engines" / "native", SOURCE / "engines" / "native" / "c")
SOURCE_FILE = re.compile(r"`((?!\S*(?:my_|ernie|intel-))[\w./-]+\.(?:py|c|h))`")
HISTORY = ("CHANGELOG.md", "diary.md")
CURRENT_PAGES = [page for page in PAGES if page.name not in HISTORY and page.parent.name != "results"]
MAKE = re.compile(r"\bmake (\w+)")


def blocks(page: Path, *languages: str) -> list[str]:
    return [body for language, body in BLOCK.findall(page.read_text(encoding="utf-8")) if language in languages]


def commands() -> list[tuple[str, str]]:
    """(page, command) of every `niwaki …` in shell blocks and running text."""
    found = []
    for page in PAGES:
        lines = [line.split("#")[0].strip() for body in blocks(page, "sh", "bash") for line in body.splitlines()]
        inline = [text for text in INLINE.findall(page.read_text(encoding="utf-8")) if "…" not in text]
        found += [(page.name, command_of(line)) for line in lines if START.search(line)] + [
            (page.name, text) for text in inline
        ]
    return sorted(set(found))


def command_of(line: str) -> str:
    """Without what starts it: an environment, a launcher, the background."""
    return line[START.search(line).start() :].removesuffix(" &")


def test_commands_are_found_on_the_pages():
    assert {"run", "check", "list", "show", "predict", "measure", "ledger", "new"} <= {
        line.split()[1] for _, line in commands()
    }


def parse_problem(line: str) -> str | None:
    """Checks verb, options and number of arguments; runs nothing."""
    _, verb, *arguments = shlex.split(line)
    if verb.startswith("-"):
        return None
    if verb not in VERBS.names():
        return "unknown verb"
    group = program()
    command = group.get_command(typer.Context(group), verb)
    if set(arguments) & {"--help"} or not arguments:
        return None  # only names the verb
    try:
        command.make_context(verb, arguments)
    except Exception as problem:  # noqa: BLE001 -- whatever it is, it is reported with its page and line
        return repr(problem)
    return None


def test_commands_on_pages_parse():
    problems = [(page, line, parse_problem(line)) for page, line in commands()]
    wrong = [f"{page}: {line}: {problem}" for page, line, problem in problems if problem]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("line", ["niwaki prune x", "niwaki run --never", "niwaki show a b c d e"])
def test_a_wrong_command_is_reported(line):
    assert parse_problem(line)


@pytest.mark.parametrize("catalog", [METHODS, TASKS, RUNTIMES], ids=lambda catalog: catalog.plural)
def test_every_entry_is_documented(catalog):
    text = "".join(page.read_text(encoding="utf-8") for page in CURRENT_PAGES)
    assert [name for name in catalog.names() if f"`{name}`" not in text] == []


def test_every_verb_is_on_the_readme():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [verb for verb in VERBS.names() if f"niwaki {verb}" not in text] == []


def resolves(page: Path, target: str) -> bool:
    if target.startswith(
        ("http://", "https://", "reference/")
    ):  # reference pages are generated; test_site.py checks them
        return True
    path, _, anchor = target.partition("#")
    location = (page.parent / path).resolve() if path else page
    if not location.exists() or not anchor:
        return location.exists()
    heads = re.findall(r"^#+ (.*)$", location.read_text(encoding="utf-8"), re.MULTILINE)
    return anchor in [slug(head) for head in heads]


def test_links_resolve():
    links = [(page, target) for page in PAGES for target in LINK.findall(page.read_text(encoding="utf-8"))]
    broken = [f"{page.relative_to(ROOT)}: {target}" for page, target in links if not resolves(page, target)]
    assert not broken, "\n".join(broken)
    assert not any(
        resolves(ROOT / "README.md", target) for target in ("docs/none.md", "docs/concepts.md#none", "#none")
    )


def slug(head: str) -> str:
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-")


def block_problems(page: Path) -> Iterator[str]:
    for body in blocks(page, "python"):
        try:
            ast.parse(body)
        except SyntaxError as problem:
            yield f"{page.relative_to(ROOT)}: {problem} in {body!r}"
    for body in blocks(page, "toml"):
        try:
            if not parse(tomllib.loads(body)).stages:
                yield f"{page.relative_to(ROOT)}: no stages in {body!r}"
        except (tomllib.TOMLDecodeError, InputError) as problem:
            yield f"{page.relative_to(ROOT)}: {problem} in {body!r}"


def test_python_and_toml_blocks_are_valid():
    problems = [problem for page in PAGES for problem in block_problems(page)]
    assert not problems, "\n".join(problems)


def test_source_files_named_on_pages_exist():
    """Paths are relative to the repository, to the package or to the native engine."""
    texts = {page: BLOCK.sub("", page.read_text(encoding="utf-8")) for page in CURRENT_PAGES}
    named = [(page, path) for page, text in texts.items() for path in SOURCE_FILE.findall(text)]
    missing = [
        f"{page.relative_to(ROOT)}: {path}"
        for page, path in named
        if not any((folder / path).exists() for folder in SOURCE_FOLDERS)
    ]
    assert named and not missing, "\n".join(missing)


def test_the_glossary_has_at_most_20_entries():
    text = (ROOT / "docs" / "concepts.md").read_text(encoding="utf-8")
    glossary = text.partition("## Glossary\n")[2].partition("\n## ")[0]
    rows = [row for row in glossary.splitlines() if row.startswith("| ")]
    assert 2 <= len(rows) - 1 <= 20  # without the head


def make_targets(page: Path) -> list[str]:
    text = page.read_text(encoding="utf-8")
    return MAKE.findall("\n".join([*blocks(page, "sh"), *re.findall(r"`(make [^`]+)`", text)]))


def test_make_targets_exist():
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    named = [(page, target) for page in PAGES for target in make_targets(page)]
    missing = [f"{page.relative_to(ROOT)}: make {target}" for page, target in named if target not in targets]
    assert named and not missing, "\n".join(missing)


def test_the_readme_contains_the_results_markers_once():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert text.count("<!-- results:begin -->") == text.count("<!-- results:end -->") == 1
    assert text.index("<!-- results:begin -->") < text.index("<!-- results:end -->")


def test_make_demo_and_make_test_call_niwaki_and_pytest():
    result = subprocess.run(
        ["make", "--dry-run", "--always-make", "demo", "test"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert "niwaki run" in result.stdout and "pytest" in result.stdout and "tools/setup" in result.stdout


def test_settings_in_commands_exist():
    from niwaki.run.recipe import apply_override, locate
    from niwaki.tasks.classification import Classification
    from niwaki.tasks.language_modeling import LanguageModeling

    for _, line in commands():
        words = shlex.split(line)
        for position, word in enumerate(words[:-1]):
            if word != "--set":
                continue
            values = {"stages": [{"name": "student"}, {"name": "pruned"}]}
            apply_override(values, words[position + 1])
            if "data" in values:
                check(LanguageModeling if "pretrain" in words else Classification, values["data"])
            else:
                parse({**values, "stages": [{**stage} for stage in values["stages"]]})
    assert locate("rotten_tomatoes")
