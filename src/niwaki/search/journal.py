"""Finished trials on disk, one line each. A killed search reads them again, and so chooses the same next points."""

from pathlib import Path

from niwaki.core.files import append_line, read_lines
from niwaki.core.json_types import Json

SOURCE, TRIAL = "source", "trial"


class Journal:
    """The lines of one search: its source with timings, then trials by number. Lines are only added; a torn one is ignored."""

    def __init__(self, path: Path) -> None:
        self.path = path
        lines = [line for line in read_lines(path) if isinstance(line, dict)] if path.exists() else []
        self.source: Json | None = next((line for line in lines if line.get("event") == SOURCE), None)
        self.trials: list[Json] = []
        for line in lines:
            if line.get("event") == TRIAL and line.get("number") == len(self.trials):
                self.trials.append(line)

    @property
    def seconds(self) -> float:
        """What the recorded work took."""
        return sum(float(line["seconds"]) for line in [*self.trials, *([self.source] if self.source else [])])

    def add_source(self, line: Json) -> Json:
        self.source = {"event": SOURCE, **line}
        append_line(self.path, self.source)
        return self.source

    def add(self, line: Json) -> Json:
        """Adds the next trial."""
        record = {"event": TRIAL, "number": len(self.trials), **line}
        append_line(self.path, record)
        self.trials.append(record)
        return record
