"""What came of a run, for Python and notebooks."""

import html
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from niwaki.core.errors import Refused
from niwaki.core.inside import below, inside
from niwaki.core.strict_json import read as read_json


@dataclass(frozen=True)
class Run:
    """A filled run folder. Its repr is the table of stages; in a notebook, too."""

    folder: Path
    report: dict[str, Any]

    @classmethod
    def read(cls, folder: Path) -> "Run":
        if not (folder / "report.json").is_file():
            raise Refused(
                f"{folder}: is not a finished run, it has no report.json; `niwaki run` finishes it, `niwaki report` writes it"
            )
        report = read_json(inside(folder, "report.json"), constants=True)
        if not isinstance(report, dict) or not isinstance(report.get("stages"), list):
            raise Refused(f"{folder / 'report.json'}: is not a report; `niwaki report` writes it again")
        return cls(folder, report)

    @property
    def stages(self) -> list[dict[str, Any]]:
        return self.report["stages"]

    def model(self, stage: str) -> Path:
        """The folder of a stage's model, for `niwaki.load`."""
        said = read_json(inside(self.folder, "plan.json"), constants=True)
        try:
            plan = [(entry["name"], entry["folder"]) for entry in said["stages"]]
        except (KeyError, TypeError):
            raise Refused(f"{self.folder / 'plan.json'}: is not a plan; `niwaki run` writes it again") from None
        found = [folder for name, folder in plan if name == stage]
        if not found:
            raise Refused(
                f"{self.folder}: has no stage '{stage}'; there is: {', '.join(str(name) for name, _ in plan)}"
            )
        return below(self.folder, str(found[0])) / "model"

    @property
    def deploy(self) -> Path:
        """The model that the report says to deploy."""
        verdict = self.report.get("verdict")
        stage = verdict.get("deploy") if isinstance(verdict, dict) else None
        if not isinstance(stage, str) or not stage:
            raise Refused(f"{self.folder}: its report names no stage to deploy")
        return self.model(stage)

    def _rows(self) -> list[list[str]]:
        """Stage, score, size and speed of every stage that was made."""
        metric = (self.report.get("task") or {}).get("metric") or "score"
        rows = [["stage", metric, "MB", "texts/s"]]
        for stage in self.stages:
            size, speed = (stage.get(key) or 0 for key in ("bytes", "throughput"))
            if stage.get("score") is not None:
                rows.append(
                    [stage["name"], f"{stage['score']:.4f}", f"{size / 1e6:.1f}", f"{speed:.0f}" if speed else "-"]
                )
        return rows

    @property
    def sentence(self) -> str:
        return str((self.report.get("verdict") or {}).get("sentence", ""))

    def __repr__(self) -> str:
        lines = [f"{name:<14}{score:>9}{size:>9}{speed:>10}" for name, score, size, speed in self._rows()]
        return "\n".join([f"Run({str(self.folder)!r})", *lines, self.sentence])

    def _repr_html_(self) -> str:
        head, *body = ["".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in self._rows()]
        rows = "".join(f"<tr>{row}</tr>" for row in body)
        return f"<p>{html.escape(self.sentence)}</p><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
