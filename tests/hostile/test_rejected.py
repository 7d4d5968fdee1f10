"""The command line rejects every hostile file: exit code 3, one line, at once, in little memory, and without creating
a file, a process or a socket. Valid files are accepted.

Runs in this process with an audit hook; `benchmarks/untrusted_files.py` does the same with a process for each case, under
strace.
"""

import json
import os
import resource
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

import tiny
from hostile.sound import TEXT, cases, make_sound
from niwaki.cli._app import run
from niwaki.core import log
from niwaki.engines.predictor import Predictor
from niwaki.models.model import load_folder
from selection import covering

CASES = cases()
# a file that is not rejected early takes far more; benchmarks/untrusted_files.py checks the documented limit of 1 s
MOST_CPU_SECONDS, MAX_BYTES = 6.0, 300 << 20
WRITE_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT
CREATING_EVENTS = (
    "os.mkdir",
    "os.rename",
    "os.link",
    "os.symlink",
    "os.fork",
    "os.exec",
    "os.posix_spawn",
    "os.system",
    "subprocess.",
    "socket.",
    "tempfile.",
    "shutil.",
)
created: list[str] | None = None  # events since the start of the audit


def _watch(event: str, arguments: tuple) -> None:
    if created is None or "__pycache__" in str(
        arguments[:1]
    ):  # Python caches the bytecode of a module at its first import
        return
    if event.startswith(CREATING_EVENTS) or (
        event == "open" and isinstance(arguments[2], int) and arguments[2] & WRITE_FLAGS
    ):
        created.append(f"{event} {arguments[:2]}")


sys.addaudithook(_watch)


@pytest.fixture(scope="session")
def sound(tmp_path_factory):
    """All that a case begins with; each verb was used once, so that imports are not counted."""
    found = make_sound(tmp_path_factory.mktemp("sound"))
    for arguments in (
        ["predict", found.model, TEXT],
        ["predict", found.edited, TEXT, "--engine", "torch"],
        ["predict", found.seq2seq, TEXT],
        ["report", found.run],
        ["check", found.recipe],
        ["check", found.recipe, "--data", found.rows],
    ):
        assert run([str(argument) for argument in arguments]) == 0, arguments
    return found


def test_there_are_ten_cases_in_each_of_fourteen_families():
    families = Counter(case.family for case in CASES)
    assert len(families) == 14 and set(families.values()) == {10}, families


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_hostile_file_is_rejected(case, sound, tmp_path, capfd):
    global created
    arguments = case.make(sound, tmp_path)
    before = sorted(tmp_path.rglob("*"))
    capfd.readouterr()
    peak, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    created = []
    try:
        code = run(arguments)
    finally:
        found, created = created, None
    seconds = time.process_time() - began
    grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak)
    out, err = capfd.readouterr()
    log.quiet()
    lines = [line for line in err.splitlines() if line.strip()]
    assert (code, out, len(lines)) == (3, "", 1), (code, out, err)
    assert lines[0].startswith("niwaki: ") and len(lines[0]) < 1600 and lines[0].isprintable(), lines
    assert "fault of niwaki's own" not in err and "PRIVATE KEY" not in err
    assert seconds < MOST_CPU_SECONDS and grown < MAX_BYTES, (seconds, grown)
    assert found == [] and sorted(tmp_path.rglob("*")) == before


def test_the_audit_hook_sees_new_files(tmp_path):
    global created
    created = []
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    found, created = created, None
    assert len(found) == 2


def test_a_panic_that_no_rule_foresaw_shows_no_traceback(sound, monkeypatch, capfd):
    """The tokenizers library gives up with an exception that is deliberately none that programs catch."""
    panic = type("PanicException", (BaseException,), {})

    def give_up(*_, **__):
        raise panic("index out of bounds")

    monkeypatch.setattr("niwaki.answers.label.Label.encode", give_up)
    assert run(["predict", str(sound.model), TEXT]) == 3
    monkeypatch.setattr("niwaki.api.load", give_up)
    assert run(["predict", str(sound.model), TEXT]) == 1
    first, second = capfd.readouterr().err.splitlines()
    assert "tokenizer.json: cannot be read (index out of bounds)" in first and "a fault of niwaki's own" in second


@pytest.mark.parametrize(
    ("family", "head"),
    covering(tiny.FAMILIES, ["SequenceClassification", "TokenClassification", "QuestionAnswering"]),
)
def test_a_valid_model_loads(family, head, tmp_path):
    from niwaki.engines.export import write_graph

    model = tiny.model(family, head=head)
    model.save(tmp_path)
    write_graph(model, tmp_path)
    assert load_folder(tmp_path).labels == tiny.LABELS
    assert Predictor(tmp_path).labels == tiny.LABELS


def test_notes_in_published_configs_are_accepted(sound, tmp_path):
    """Keys as they lie in well-known checkpoints: notes, paths of those who trained them, older options."""
    model = sound.copy("model", tmp_path)
    config = json.loads((model / "config.json").read_text())
    notes = {
        "_name_or_path": "../runs/old",
        "_num_labels": 2,
        "directionality": "bidi",
        "gradient_checkpointing": False,
        "finetuning_task": "sst-2",
        "output_past": True,
        "pooler_fc_size": 768,
        "pooler_type": "first_token_transform",
        "pruned_heads": {},
        "torch_dtype": "float32",
        "layer_norm_type": "layer_norm",
        "attn_implementation": "sdpa",
        "task_specific_params": {"a": {"b": 1}},
        "model_max_length": 512,
    }
    (model / "config.json").write_text(json.dumps({**config, **notes}))
    settings = json.loads((model / "tokenizer_config.json").read_text())
    more = {
        "special_tokens_map_file": "/cache/special_tokens_map.json",
        "name_or_path": "/data/base",
        "never_split": None,
        "model_max_length": 1000000000000000019884624838656,
        "clean_up_tokenization_spaces": True,
        "sp_model_kwargs": {},
        "added_tokens_decoder": {
            "0": {
                "content": "[PAD]",
                "lstrip": False,
                "normalized": False,
                "rstrip": False,
                "single_word": False,
                "special": True,
            }
        },
    }
    (model / "tokenizer_config.json").write_text(json.dumps({**settings, **more}))
    (model / "special_tokens_map.json").write_text(json.dumps({"cls_token": {"content": "[CLS]", "lstrip": False}}))
    assert Predictor(model).predict([TEXT]) and load_folder(model).tokenizer.cls_token == "[CLS]"


def test_a_snapshot_in_the_hubs_cache_is_of_links_and_loads(sound, tmp_path):
    repository = tmp_path / "models--someone--model"
    snapshot = repository / "snapshots" / "0123"
    snapshot.mkdir(parents=True)
    (repository / "blobs").mkdir()
    for number, path in enumerate(sorted(sound.model.iterdir())):
        (repository / "blobs" / str(number)).write_bytes(path.read_bytes())
        (snapshot / path.name).symlink_to(Path("..", "..", "blobs", str(number)))
    assert Predictor(snapshot).predict([TEXT])


def test_answering_leaves_nothing_behind_at_home(sound, tmp_path):
    """ONNX Runtime keeps a list of the models it loads below the user's folder, and sends it, by default; OpenVINO
    keeps a number for the user. What niwaki remembers is which engine was faster."""
    code = f"from niwaki.cli._app import run; run(['predict', {str(sound.model)!r}, {TEXT!r}])"
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("ORT_", "XDG_", "CI"))}
    done = subprocess.run(
        [sys.executable, "-c", code], env={**environment, "HOME": str(tmp_path)}, capture_output=True, text=True
    )
    assert done.returncode == 0 and TEXT in done.stdout, done.stderr
    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert left == {".cache/niwaki/engines.json"}


def test_hard_links_of_installers_load(sound, tmp_path):
    for path in sound.model.iterdir():
        (tmp_path / path.name).hardlink_to(path)
    assert load_folder(tmp_path).labels == tiny.LABELS
