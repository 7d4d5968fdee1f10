"""Coverage-guided fuzzing of untrusted input: `python benchmarks/fuzz.py recipe|blueprint|config|predict --minutes 15`.

Minutes are CPU time from the first input on. Needs atheris (`pip install atheris`), which is guided by the branches of Python code and
has timeouts and memory limits; hypothesis is not guided, and coverage through sys.settrace is ten times slower. Half of the inputs are
mutated as JSON trees, so that they pass the parser; the rest as bytes. An input may be accepted or rejected (NiwakiError; on the command
line one line with exit code 2 or 3). Every other exception, 5 s of CPU time or 4 GB is a finding; Python code is stopped after 30 s,
everything after an hour. Findings are stored in results/fuzz/, and the command then exits with 1. Appends a record to results/fuzz.jsonl.
"""

import contextlib
import errno
import io
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

os.environ.update(OMP_NUM_THREADS="1", HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
ROOT = Path(__file__).parents[1]
TARGETS = ("recipe", "blueprint", "config", "predict")
SLOW_CPU_SECONDS, HANGING_CPU_SECONDS, TIMEOUT_SECONDS, MEMORY_MB, LARGEST = 5, 30, 3600, 4096, 16_384
CROWDED = 20  # maximum ratio of wall time to CPU time
VALUES = (
    None,
    True,
    False,
    0,
    -1,
    1,
    2,
    3,
    31,
    0.5,
    1e308,
    -1e-308,
    2**31,
    2**63,
    10**40,
    float("nan"),
    float("inf"),
    "",
    "x",
    "x" * 3000,
    "../../x",
    "a\0b",
    "é\ud800",
    "stages",
    "logits",
    "int8",
    "heads",
    "BertForSequenceClassification",
    "roberta",
    [],
    {},
    [[]],
    {"use": "int8"},
    [0, 0],
    {"0": "a"},
)

KEYS = (  # known to one of the readers
    "auto_map",
    "trust_remote_code",
    "attn_implementation",
    "_attn_implementation",
    "quantization_config",
    "torch_dtype",
    "dtype",
    "text_config",
    "id2label",
    "label2id",
    "num_labels",
    "problem_type",
    "niwaki_answer",
    "niwaki_max_tokens",
    "architectures",
    "model_type",
    "tie_word_embeddings",
    "edit",
    "keep",
    "edits",
    "base",
    "version",
    "teacher",
    "start",
    "train",
    "methods",
    "use",
    "epochs",
    "seeds",
    "meter",
    "data",
    "path",
    "name",
)


def main(target: str, minutes: float) -> None:
    with tempfile.TemporaryDirectory() as folder:
        record = fuzz(target, minutes, Path(folder))
    from records import append, circumstances

    append("fuzz", {**record, **circumstances()})
    print(record)
    sys.exit(1 if record["findings"] or record["exit_code"] else 0)


def fuzz(target: str, minutes: float, folder: Path) -> dict[str, Any]:
    """Fuzzes in a child process and reads its results from files, because libFuzzer does not return."""
    corpus, state_file = folder / "corpus", folder / "state.json"
    corpus.mkdir()
    command = [
        sys.executable,
        __file__,
        "--child",
        target,
        str(folder),
        str(minutes),
        str(corpus),
        f"-max_total_time={minutes * 60 * CROWDED:.0f}",
    ]
    limits = [
        f"-timeout={TIMEOUT_SECONDS}",
        f"-rss_limit_mb={MEMORY_MB}",
        f"-max_len={LARGEST}",
        f"-artifact_prefix={folder}/",
        "-seed=1",
    ]
    began = time.monotonic()
    done = subprocess.run([*command, *limits], capture_output=True, text=True, errors="replace", check=False)
    found = (
        json.loads(state_file.read_text())
        if state_file.exists()
        else {"executions": 0, "cpu_minutes": 0, "findings": {}}
    )
    findings = ROOT / "benchmarks" / "results" / "fuzz"
    for name in [*found["findings"], *(path.name for path in folder.glob("*-*") if path.is_file())]:
        if (folder / name).is_file():
            findings.mkdir(parents=True, exist_ok=True)
            (findings / f"{target}-{name}").write_bytes((folder / name).read_bytes())
    coverage = re.findall(r"cov: (\d+) ft: (\d+)", done.stderr)
    if done.returncode:
        print(done.stderr[-3000:])
    return {
        "target": target,
        "asked_cpu_minutes": minutes,
        "minutes": (time.monotonic() - began) / 60,
        **found,
        "edges": int(coverage[-1][0]) if coverage else None,
        "first_edges": int(coverage[0][0]) if coverage else None,
        "corpus": len(list(corpus.iterdir())),
        "exit_code": done.returncode,
    }


def child(target: str, folder: Path, minutes: float, arguments: list[str]) -> None:
    """Fuzzes until the CPU time is used up."""
    import atheris

    sys.path.insert(0, str(ROOT / "tests"))
    with atheris.instrument_imports(include=["niwaki", "tomllib"]):
        seeds, call = globals()[f"{target}_target"](folder)
    for number, seed in enumerate(seeds):
        (folder / "corpus" / f"seed-{number}").write_bytes(seed)
    state: dict[str, Any] = {
        "executions": 0,
        "refused": 0,
        "answered": 0,
        "slowest_cpu_seconds": 0.0,
        "cpu_minutes": 0.0,
        "findings": {},
    }
    first = time.process_time()

    def hangs(number: int, frame: Any) -> None:
        raise TimeoutError(f"{HANGING_CPU_SECONDS} CPU s")

    signal.signal(signal.SIGPROF, hangs)

    def note(name: str, what: str, data: bytes) -> None:
        if name not in state["findings"]:
            state["findings"][name] = what[:300]
            (folder / name).write_bytes(data)

    def one(data: bytes) -> None:
        began = time.process_time()  # CPU time, because other processes may run
        signal.setitimer(signal.ITIMER_PROF, HANGING_CPU_SECONDS)
        try:
            state["refused" if is_rejected(call, data) else "answered"] += 1
        except Exception as error:  # noqa: BLE001 - a finding
            place = traceback.extract_tb(error.__traceback__)[-1]
            name = re.sub(r"\W+", "_", f"{type(error).__name__}_{Path(place.filename).stem}_{place.lineno}")
            note(name, f"{type(error).__name__}: {error}", data)
        signal.setitimer(signal.ITIMER_PROF, 0)
        now = time.process_time()
        if now - began > SLOW_CPU_SECONDS:
            note(f"slow_{state['executions']}", f"{now - began:.1f} CPU s", data)
        state["executions"] += 1
        state["slowest_cpu_seconds"] = max(state["slowest_cpu_seconds"], now - began)
        state["cpu_minutes"] = (now - first) / 60
        over = state["cpu_minutes"] >= minutes
        if over or state["executions"] % 50 == 0:
            (folder / "state.json").write_text(json.dumps(state))
        if over:
            os._exit(0)

    atheris.Setup([sys.argv[0], *arguments], one, custom_mutator=mutated)
    atheris.Fuzz()


def is_rejected(call: Any, data: bytes) -> bool:
    from niwaki.core.errors import NiwakiError

    try:
        call(data)
    except NiwakiError as error:
        lines = str(error).splitlines()
        assert lines and max(map(len, lines)) < 2000, "a refusal says why, in lines that can be read"
        return True
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:  # an argument that the system rejects
            raise
        return True
    return False


def mutated(data: bytes, most: int, seed: int) -> bytes:
    """Changes a few values of a JSON tree; mutates bytes if it is none, and sometimes otherwise."""
    import atheris

    draw = random.Random(seed)
    try:
        tree = json.loads(data)
    except (ValueError, RecursionError):
        return atheris.Mutate(data, most)
    if draw.random() < 0.2:
        return atheris.Mutate(data, most)
    for _ in range(draw.randint(1, 3)):
        tree = changed(tree, draw)
    return json.dumps(tree, ensure_ascii=draw.random() < 0.5).encode("utf-8", "surrogatepass")[:most]


def changed(tree: Any, draw: random.Random) -> Any:
    if isinstance(tree, dict) and tree and draw.random() < 0.9:
        key = draw.choice(list(tree))
        kind = draw.random()
        if kind < 0.1:
            return {other: value for other, value in tree.items() if other != key}
        if kind < 0.2:
            return {**tree, str(draw.choice((*KEYS, *VALUES))): draw.choice((*VALUES, *tree.values()))}
        return {**tree, key: changed(tree[key], draw)}
    if isinstance(tree, list) and tree and draw.random() < 0.9:
        place = draw.randrange(len(tree))
        kind = draw.random()
        if kind < 0.15:
            return tree[:place] + tree[place + 1 :]
        if kind < 0.3:
            return [*tree, draw.choice(tree)]
        return [*tree[:place], changed(tree[place], draw), *tree[place + 1 :]]
    if isinstance(tree, int | float) and not isinstance(tree, bool) and draw.random() < 0.5:
        return draw.choice([tree + 1, tree - 1, -tree, tree * 2, tree * 1000])
    return draw.choice(VALUES)


def recipe_target(folder: Path) -> tuple[list[bytes], Any]:
    """A TOML file, or a table if it begins like JSON; planned and estimated as in `check`."""
    import tomllib

    import tiny
    from niwaki.core.recipes import recipe_files
    from niwaki.run.estimate import estimate
    from niwaki.run.plan import make_plan
    from niwaki.run.recipe import Recipe, apply_override, parse, read, to_toml
    from run import small

    (model := folder / "model").mkdir()
    tiny.model("bert").save(model)
    rows, path = tiny.write_csv(folder / "rows.csv"), folder / "recipe.toml"
    text = small.RECIPE.format(model=json.dumps(str(model)), rows=json.dumps(str(rows)), epochs=1, save=1)
    shipped = [tomllib.loads(recipe.read_text()) for recipe in recipe_files().values()]
    own = {"model": str(model), "task": "classification", "data": {"path": str(rows)}}
    trees = [
        {**one, **own, "set": ["seed=1", "stages.teacher.train.epochs=2"]} for one in (*shipped, tomllib.loads(text))
    ]

    def look(recipe: Recipe) -> None:
        assert to_toml(recipe)
        plan = make_plan(recipe, "fuzz")
        json.dumps({**plan.to_json(), "estimate": estimate(plan)})

    def call(data: bytes) -> None:
        if not data.startswith(b"{"):
            path.write_bytes(data)
            look(read(path))
            return
        try:
            values = json.loads(data)
        except (ValueError, RecursionError):
            return
        overrides = values.pop("set", None)
        for override in overrides if isinstance(overrides, list) else []:
            apply_override(values, str(override))
        look(parse(values))

    return [text.encode(), *(json.dumps(tree).encode() for tree in trees)], call


def blueprint_target(folder: Path) -> tuple[list[bytes], Any]:
    """A blueprint.json, read and built without weights."""
    import tiny
    from niwaki.core.files import read_json
    from niwaki.models.blueprint import Blueprint
    from niwaki.models.edits.ffn import Ffn
    from niwaki.models.edits.heads import Heads
    from niwaki.models.edits.layers import Layers
    from niwaki.models.skeleton import checked_config

    path = folder / "blueprint.json"
    seeds = []
    for family in ("bert", "distilbert", "albert"):
        model = tiny.model(family)
        unique_tensors = len(model.anatomy.layers)
        model.apply_edit(Heads(keep=[[0, 2]] * unique_tensors))
        model.apply_edit(Ffn(keep=[16] * unique_tensors))
        if unique_tensors > 1:
            model.apply_edit(Layers(keep=[0, 2]))
        seeds.append(json.dumps(model.blueprint.to_json()).encode())
    for edits in packed_edits(len(list(tiny.model("bert").anatomy.whole_matrices()))):
        model = tiny.model("bert")
        for edit in edits:
            model.apply_edit(edit)
        seeds.append(json.dumps(model.blueprint.to_json()).encode())

    def call(data: bytes) -> None:
        path.write_bytes(data)
        blueprint = Blueprint.from_json(read_json(path))
        blueprint.base = checked_config(blueprint.base, str(path))
        blueprint.replay()

    return seeds, call


def packed_edits(matrices: int) -> list[list[Any]]:
    """Several edits in a row that change the storage of matrices."""
    from niwaki.models.edits.factored import Factored
    from niwaki.models.edits.int8 import Int8
    from niwaki.models.edits.kronecker import Kronecker
    from niwaki.models.edits.low_bit import LowBit
    from niwaki.models.edits.narrow import Narrow
    from niwaki.models.edits.share import Share
    from niwaki.models.edits.sparse import Sparse
    from niwaki.models.edits.static import Static

    return [
        [Share(of=[0, 0, 2]), Factored(ranks=[4] * matrices), LowBit(base=7, group=8)],
        [Narrow(width=8), Sparse(), Int8()],
        [Kronecker(sizes=[[4, 4, 2], *[None] * (matrices - 1)]), Static()],
    ]


def config_target(folder: Path) -> tuple[list[bytes], Any]:
    """A config.json in a model folder, which is then loaded."""
    import tiny
    from niwaki.models.model import load_folder

    folders = {family: folder / f"model-{family}" for family in ("bert", "distilbert", "roberta")}
    for family, place in folders.items():
        place.mkdir()
        tiny.model(family).save(place)
    seeds = [(place / "config.json").read_bytes() for place in folders.values()]

    def call(data: bytes) -> None:
        named = next((place for family, place in folders.items() if f'"{family}"'.encode() in data), folders["bert"])
        (named / "config.json").write_bytes(data)
        load_folder(named)

    return seeds, call


def predict_target(folder: Path) -> tuple[list[bytes], Any]:
    """A file for `niwaki predict --in`; its first letter selects the answer type. Models are loaded once. If it begins like
    JSON, it is a table from answer type to a list of inputs, as a program would pass."""
    from engines.kinds import INPUTS, KINDS, model_of, saved
    from niwaki import api
    from niwaki.cli._app import run
    from niwaki.core.errors import InputError
    from niwaki.engines.predictor import Predictor

    predictors = {kind: Predictor(saved(model_of(kind), folder / kind), threads=1) for kind in KINDS}
    letters = {chr(ord("a") + number): kind for number, kind in enumerate(KINDS)}
    api.load = lambda model, engine: predictors[model]
    path = folder / "lines.txt"

    def call(data: bytes) -> None:
        if data.startswith(b"{"):
            try:
                given = json.loads(data)
            except (ValueError, RecursionError):
                return
            for kind, inputs in given.items():
                answers = predictors[kind if kind in predictors else "label"].predict(inputs)
                assert all(answer.line() is not None for answer in answers)
            return
        path.write_bytes(data[1:])
        out, err = io.StringIO(), io.StringIO()
        kind = letters.get(data[:1].decode("latin-1"), "label")
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run(["predict", kind, "--in", str(path), *(["--json"] if len(data) % 2 else [])])
        message = err.getvalue()
        if code in (2, 3) and message.count("\n") == 1 and not out.getvalue():
            raise InputError(message)
        assert code == 0 and not message, f"exit code {code}: {message}"
        out.getvalue().encode("utf-8")

    lines = [f"{letter}a good film.\na dull film\ta pair\tand more".encode() for letter in letters]
    trees = [json.dumps({kind: inputs[:3]}).encode() for kind, inputs in INPUTS.items()]
    return [*lines, "aé\u202e漢字 \U0001f600\n\n".encode(), *trees], call


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], Path(sys.argv[3]), float(sys.argv[4]), sys.argv[5:])
    elif len(sys.argv) > 1 and sys.argv[1] in TARGETS:
        main(sys.argv[1], float(sys.argv[3]) if len(sys.argv) > 3 else 15)
    else:
        sys.exit(__doc__)
