"""What came of a run, for Python and notebooks."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from niwaki.core.errors import Refused
from niwaki.core.files import read_json


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
        return cls(folder, read_json(folder / "report.json"))

    @property
    def stages(self) -> list[dict[str, Any]]:
        return self.report["stages"]

    def model(self, stage: str) -> Path:
        """The folder of a stage's model, for `niwaki.load`."""
        plan = read_json(self.folder / "plan.json")["stages"]
        found = [entry["folder"] for entry in plan if entry["name"] == stage]
        if not found:
            raise Refused(
                f"{self.folder}: has no stage '{stage}'; there is: {', '.join(entry['name'] for entry in plan)}"
            )
        return self.folder / found[0] / "model"

    @property
    def deploy(self) -> Path:
        """The model that the report says to deploy."""
        stage = (self.report.get("verdict") or {}).get("deploy")
        if not stage:
            raise Refused(f"{self.folder}: its report names no stage to deploy")
        return self.model(stage)

    def __repr__(self) -> str:
        rows = [
            f"{s['name']:<12} {s['score']:.4f}  {s['bytes'] / 1e6:7.1f} MB  {s['throughput'] or 0:8.0f}/s"
            for s in self.stages
            if s.get("score") is not None
        ]
        return "\n".join([f"Run({str(self.folder)!r})", *rows, (self.report.get("verdict") or {}).get("sentence", "")])

    def _repr_html_(self) -> str:
        from niwaki.report.page import table

        return table(self.report)
