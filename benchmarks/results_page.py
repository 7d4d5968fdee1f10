"""What a results page is made of. A module render_<topic>.py declares its page as PAGE, and render.py finds it by its file name."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import records

Record = dict[str, Any]
Records = list[Record]
GROUPS = ("Overview", "Compression", "Speed", "Tasks", "Energy and reliability")


def circumstances(row: Record) -> str:
    machine, versions = row["machine"], row["versions"]
    packages = ", ".join(f"{name} {version}" for name, version in versions.items())
    return f"Machine: {machine['cpu']} (family {machine['family']}, model {machine['model']}), {machine['vcpus']} vCPUs, {machine['memory_bytes'] / 2**30:.0f} GiB. {packages}. Commit {row['commit']}, {row['time']}."


@dataclass(frozen=True)
class Section:
    """One heading of a page, rendered from one file of records."""

    records: str  # name of a file in results/, without .jsonl
    title: str
    body: Callable[[Records], str]
    footer: Callable[[Record], str] = circumstances  # from the newest record

    def render(self) -> str:
        """Empty if there are no records."""
        rows = records.read(self.records)
        if not rows:
            return ""
        parts = [f"## {self.title}", self.body(rows), self.footer(rows[-1])]
        return "\n\n".join(part for part in parts if part) + "\n"


@dataclass(frozen=True)
class Page:
    """The page docs/results/<slug>.md. Links in it are relative to docs/results."""

    slug: str
    title: str
    group: str  # one of GROUPS
    headline: Callable[[], str]  # the main result in one sentence, for the summary
    sections: tuple[Section, ...]

    def has_records(self) -> bool:
        return any(records.read(section.records) for section in self.sections)

    def render(self) -> str:
        sections = [text for section in self.sections if (text := section.render())]
        return "\n".join([f"# {self.title}\n\n[All results](../results.md)\n", *sections])
