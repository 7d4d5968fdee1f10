"""Damage to whole runs and to model folders, as people and disks cause it, and what the verbs that read them make of it.

A corruption must be named (exit 3, or a notice), or every verb must give what it gave before. Anything else is silent.
"""

import contextlib
import io
import json
import random
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from niwaki import api
from niwaki.cli._app import run as command_line
from niwaki.core import log, model_integrity
from niwaki.core.errors import InputError
from niwaki.core.files import MANIFEST, commit_folder, write_json
from niwaki.run.export import export

DERIVED = ("report.html", "report.md", "README.md", "energy-label.svg", ".lock")  # written for people, never read
DOCUMENTS = ("plan.json", "report.json", "speed.json", "baseline.json", "comparisons.json")
TEXTS = ["a good film.", "the plot was dull and the actor weak"]
Damage = Callable[[Path, random.Random], None]


def stages(run: Path) -> list[Path]:
    return sorted(run.glob("stages/[!.]*"))


def content(folder: Path) -> list[Path]:
    """The files that are read; caches of teachers are read by `niwaki run` alone."""
    found = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name not in DERIVED]
    return [path for path in found if "cache" not in path.relative_to(folder).parts]


def manifests(folder: Path) -> list[Path]:
    return [path for path in content(folder) if path.name == MANIFEST]


def edit_number(path: Path, draw: random.Random) -> None:
    """One number of a JSON file becomes another, as by hand in an editor; the place is drawn."""
    text = path.read_text()
    found = list(re.finditer(r"(?<=[ \[])-?\d+(\.\d+)?(e-?\d+)?(?=[,\n\]}])", text))
    place = draw.choice(found)
    path.write_text(f"{text[: place.start()]}{float(place[0]) + 1}{text[place.end() :]}")


def edited_score(run: Path, draw: random.Random) -> None:
    path = draw.choice(stages(run)) / "result.json"
    result = json.loads(path.read_text())
    result["score"]["value"] = result["score"]["value"] * 0.1
    path.write_text(json.dumps(result, indent=2))


def edited_number(run: Path, draw: random.Random) -> None:
    edit_number(draw.choice([*(run / name for name in DOCUMENTS), *(one / "result.json" for one in stages(run))]), draw)


def edited_recommendation(run: Path, draw: random.Random) -> None:
    report = json.loads((run / "report.json").read_text())
    others = [stage["name"] for stage in report["stages"] if stage["name"] != report["verdict"]["deploy"]]
    report["verdict"]["deploy"] = draw.choice(others)
    (run / "report.json").write_text(json.dumps(report))


def edited_plan_folder(run: Path, draw: random.Random) -> None:
    """The plan names one stage's folder for another."""
    plan = json.loads((run / "plan.json").read_text())
    one, two = draw.sample(plan["stages"], 2)
    one["folder"] = two["folder"]
    (run / "plan.json").write_text(json.dumps(plan))


def swapped_stages(run: Path, draw: random.Random) -> None:
    swap(*draw.sample(stages(run), 2))


def copied_stage(run: Path, draw: random.Random) -> None:
    source, target = draw.sample(stages(run), 2)
    shutil.rmtree(target)
    shutil.copytree(source, target)


def copied_model(run: Path, draw: random.Random) -> None:
    source, target = draw.sample(stages(run), 2)
    shutil.rmtree(target / "model")
    shutil.copytree(source / "model", target / "model")


def swapped_weights(run: Path, draw: random.Random) -> None:
    one, two = draw.sample(stages(run), 2)
    swap(one / "model" / "model.safetensors", two / "model" / "model.safetensors")


def copied_document(run: Path, draw: random.Random) -> None:
    """A sound document in another's place."""
    source, target = draw.sample(DOCUMENTS, 2)
    shutil.copy(run / source, run / target)


def stage_missing(run: Path, draw: random.Random) -> None:
    shutil.rmtree(draw.choice(stages(run)))


def ledger_line_removed(run: Path, draw: random.Random) -> None:
    lines = (run / "ledger.jsonl").read_text().splitlines(keepends=True)
    lines.pop(draw.randrange(len(lines)))
    (run / "ledger.jsonl").write_text("".join(lines))


def flipped(folder: Path, draw: random.Random) -> None:
    path = draw.choice([path for path in content(folder) if path.stat().st_size])
    data = bytearray(path.read_bytes())
    data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    path.write_bytes(data)


def truncated(folder: Path, draw: random.Random) -> None:
    path = draw.choice([path for path in content(folder) if path.stat().st_size])
    path.write_bytes(path.read_bytes()[: draw.randrange(path.stat().st_size)])


def zeroed(folder: Path, draw: random.Random) -> None:
    """A block of zeros, as a disk leaves where it lost a page."""
    path = draw.choice([path for path in content(folder) if path.stat().st_size])
    data = bytearray(path.read_bytes())
    start = draw.randrange(len(data)) & ~4095
    data[start : start + 4096] = bytes(len(data[start : start + 4096]))
    path.write_bytes(data)


def emptied(folder: Path, draw: random.Random) -> None:
    draw.choice(content(folder)).write_bytes(b"")


def file_missing(folder: Path, draw: random.Random) -> None:
    draw.choice(content(folder)).unlink()


def file_added(folder: Path, draw: random.Random) -> None:
    """A file that a loader would read, where there was none."""
    models = sorted({path.parent for path in folder.rglob("config.json")})
    names = [
        "native.json",
        "blueprint.json",
        "vocab.txt",
        "special_tokens_map.json",
        "added_tokens.json",
        "model.onnx.data",
    ]
    there = draw.choice(models)
    name = draw.choice([name for name in names if not (there / name).exists()])
    (there / name).write_text(draw.choice(["{}", "[]", '{"[UNK]": 0}', ""]))


def manifest_missing(folder: Path, draw: random.Random) -> None:
    draw.choice(manifests(folder)).unlink()


def manifest_emptied(folder: Path, draw: random.Random) -> None:
    draw.choice(manifests(folder)).write_text(draw.choice(["", "{}", '{"version": 1, "files": {}}']))


def manifest_shortened(folder: Path, draw: random.Random) -> None:
    """One file is no longer listed, and damaged."""
    path = draw.choice(manifests(folder))
    manifest = json.loads(path.read_text())
    name = draw.choice([name for name in manifest["files"] if (path.parent / name).stat().st_size])
    del manifest["files"][name]
    path.write_text(json.dumps(manifest))
    data = bytearray((path.parent / name).read_bytes())
    data[draw.randrange(len(data))] ^= 1
    (path.parent / name).write_bytes(data)


def edited_config(folder: Path, draw: random.Random) -> None:
    path = draw.choice(sorted(folder.rglob("config.json")))
    config = json.loads(path.read_text())
    config["id2label"] = dict(zip(config["id2label"], reversed(config["id2label"].values()), strict=True))
    path.write_text(json.dumps(config))


def swap(one: Path, two: Path) -> None:
    aside = one.with_name("aside")
    for source, target in ((one, aside), (two, one), (aside, two)):
        source.rename(target)


ANYWHERE: list[Damage] = [
    flipped,
    truncated,
    zeroed,
    emptied,
    file_missing,
    file_added,
    manifest_missing,
    manifest_emptied,
    manifest_shortened,
    edited_config,
]
OF_RUN: list[Damage] = [
    edited_score,
    edited_number,
    edited_recommendation,
    edited_plan_folder,
    swapped_stages,
    copied_stage,
    copied_model,
    swapped_weights,
    copied_document,
    stage_missing,
    ledger_line_removed,
]
KINDS: dict[str, list[Damage]] = {
    "run": [*OF_RUN, *ANYWHERE],
    "export": ANYWHERE,
    "copied stage": ANYWHERE,
    "cascade": ANYWHERE,
}
Answers = dict[str, tuple[int, str, str]]  # verb → exit code, stdout, stderr


@dataclass(frozen=True)
class Subject:
    """A folder that verbs read: a run, or a model outside of one. `model` is what is given to the verbs, below the folder."""

    kind: str
    folder: Path
    rows: Path
    model: str = "."

    def answers(self) -> Answers:
        """What every verb says, called as a user calls it. `report` writes, so it comes last: the others must see the damage too."""
        where = str(self.folder / self.model)
        found = {
            "load": listened(lambda: _loaded(where)),
            "predict": listened(lambda: command_line(["predict", where, *TEXTS])),
            "eval": listened(lambda: command_line(["eval", where, "--data", str(self.rows), "--json"])),
        }
        if self.kind == "run":
            found["report"] = listened(lambda: command_line(["report", where, "--json"]))
        return found


def _loaded(where: str) -> int:
    """`niwaki.load` in Python; an error is printed as on the command line."""
    try:
        sys.stdout.write(repr([answer.record() for answer in api.load(where, "onnx").predict(TEXTS)]))
    except InputError as error:
        sys.stderr.writelines(f"niwaki: {fault}\n" for fault in error.faults)
        return 3
    return 0


def listened(call: Callable[[], int]) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    model_integrity._warned.clear()
    log.quiet(False)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = call()
    log.quiet()
    return code, out.getvalue(), err.getvalue()


def subjects(run: Path, rows: Path, place: Path) -> list[Subject]:
    """A run, and three kinds of model folders outside of it that have a MANIFEST."""
    teacher = next(stage for stage in stages(run) if stage.name.startswith("teacher-"))
    export(teacher / "model", "onnx", place / "export", "float", None, 0.005)
    shutil.copytree(stages(run)[0], place / "copied")
    with commit_folder(place / "cascade") as folder:
        for number, stage in enumerate(stages(run)[:2]):
            shutil.copytree(stage / "model", folder / f"model-{number}", ignore=shutil.ignore_patterns(*DERIVED))
        write_json(folder / "cascade.json", {"steps": [{"folder": "model-0", "threshold": 0.9}, {"folder": "model-1"}]})
    return [
        Subject("run", run, rows),
        Subject("export", place / "export", rows),
        Subject("copied stage", place / "copied", rows, "model"),
        Subject("cascade", place / "cascade", rows),
    ]


def corrupted(
    subject: Subject, damage: Damage, draw: random.Random, before: Answers, place: Path
) -> tuple[str, list[str]]:
    """What comes of one corruption of a copy: "named", "harmless" or "silent", and what was not as it should be."""
    copy = Subject(
        subject.kind, shutil.copytree(subject.folder, place / subject.folder.name), subject.rows, subject.model
    )
    try:
        damage(copy.folder, draw)
        return verdict(before, copy.answers())
    finally:
        shutil.rmtree(copy.folder)


def verdict(before: Answers, after: Answers) -> tuple[str, list[str]]:
    wrong, named = [], False
    for verb, (code, out, err) in after.items():
        faults = [line for line in err.splitlines() if line.startswith("niwaki: ")]
        if code == 3 and faults and not out and "Traceback" not in err:
            named = True
        elif code == 0 and out == before[verb][1]:
            named = named or MANIFEST in err
        else:
            wrong.append(f"{verb} ended with {code}: {(err or out)[-300:]!r}")
    return "silent" if wrong else "named" if named else "harmless", wrong
