"""The walk-through docs/adding.md shows the family as it is."""

import re
from pathlib import Path

from niwaki.models.family import FAMILIES

ROOT = Path(__file__).parents[2]
FAMILY, TEST = "src/niwaki/models/families/rembert.py", "tests/models/families/test_rembert.py"


def code_blocks() -> list[str]:
    return re.findall(r"```python\n(.*?)```", (ROOT / "docs/adding.md").read_text(encoding="utf-8"), re.DOTALL)


def test_the_page_shows_the_whole_family_and_the_line_of_its_test():
    family, test = ((ROOT / path).read_text(encoding="utf-8") for path in (FAMILY, TEST))
    assert family in code_blocks()
    assert sum(block in test for block in code_blocks()) == 1


def test_no_other_file_of_the_source_and_of_the_tests_knows_the_family():
    """One file and its test: lists are derived from the folder."""
    assert "rembert" in FAMILIES.names()
    own = {ROOT / FAMILY, ROOT / TEST, Path(__file__)}
    others = {path for folder in ("src", "tests") for path in (ROOT / folder).rglob("*.py")} - own
    assert not [path for path in others if "rembert" in path.read_text(encoding="utf-8").lower()]
