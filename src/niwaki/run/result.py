"""The result of a run, for Python and notebooks."""

import html
from dataclasses import dataclass
from pathlib import Path

from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.core.model_integrity import MODEL
from niwaki.core.run_folder import CASCADE, REPORT, open_run, stages_of


@dataclass(frozen=True)
class Run:
    """A finished run. Its repr, also in notebooks, is the table of stages."""

    folder: Path
    report: Json

    @classmethod
    def read(cls, folder: Path) -> "Run":
        """Reads and verifies a run. Weights are hashed when a model is loaded."""
        report = open_run(folder).current_report()
        if not isinstance(report.get("stages"), list):
            raise InputError(f"{folder / REPORT}: is not a report; remove it, and `niwaki report` writes it again")
        return cls(folder, report)

    @property
    def stages(self) -> list[Json]:
        return self.report["stages"]

    def model(self, stage: str) -> Path:
        """The folder of a stage's model, for `niwaki.load`."""
        verified = open_run(self.folder)
        planned = {str(entry.get("name")): str(entry.get("folder")) for entry in reversed(stages_of(verified.plan))}
        if stage not in planned:
            raise InputError(f"{self.folder}: has no stage '{stage}'; there is: {', '.join(reversed(planned))}")
        if planned[stage] not in verified.stages:
            raise InputError(f"{self.folder / planned[stage]}: is not made yet; `niwaki run` makes it")
        return verified.stages[planned[stage]] / MODEL

    @property
    def deploy(self) -> Path:
        """What predicts for this run: its cascade if that pays off, or else the model that the report says to deploy."""
        cascade = self.report.get("cascade")
        used = isinstance(cascade, dict) and cascade.get("used") is True
        return self.folder / CASCADE if used else self.deployed_model

    @property
    def deployed_model(self) -> Path:
        """The model that the report says to deploy, also if the run has a cascade."""
        verdict = self.report.get("verdict")
        stage = verdict.get("deploy") if isinstance(verdict, dict) else None
        if not isinstance(stage, str) or not stage:
            raise InputError(f"{self.folder}: its report names no stage to deploy")
        return self.model(stage)

    def _rows(self) -> list[list[str]]:
        """Name, score, size and speed of every finished stage."""
        metric = (self.report.get("task") or {}).get("metric") or "score"
        rows = [["stage", metric, "MB", "texts/s"]]
        for stage in self.stages:
            size, speed = stage.get("bytes") or 0, (stage.get("loaded") or stage).get("throughput")
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
