"""`niwaki compress`: exit codes, JSON, and a killed call that resumes."""

import json
import time

import pytest

import tiny
from run import small


@pytest.fixture(scope="module")
def stock(tmp_path_factory):
    folder, model = tmp_path_factory.mktemp("stock"), tiny.model("bert", layers=2, ffn=128)
    model.network.save_pretrained(folder)
    model.tokenizer.save_pretrained(folder)
    return folder


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["nothing"], 3, "is neither an embedded model"),
        (["MODEL", "--data", "nothing.csv"], 3, "nothing.csv"),
        (["MODEL", "--keep", "2"], 2, "keep"),
        (["MODEL", "--budget", "10"], 2, "budget '10'"),
        (["MODEL", "--method", "int9"], 2, "method 'int9'"),
        (["MODEL", "--method", "own_data"], 3, "give rows or texts as data"),
        (["MODEL", "--prefer", "x"], 2, "prefer"),
        (["MODEL", "--set", "stages.x=1"], 2, "only settings of the data"),
    ],
)
def test_invalid_calls_are_rejected_in_one_line_and_leave_no_files(niwaki, stock, tmp_path, arguments, code, message):
    words = [str(stock) if word == "MODEL" else word for word in arguments]
    result = niwaki("compress", *words, "--out", str(tmp_path / "out"), "--quiet")
    lines = [line for line in result.err.splitlines() if line.startswith("niwaki: ")]
    assert result.code == code and len(lines) == 1 and message in lines[0]
    assert not list(tmp_path.iterdir())


@pytest.mark.slow  # two processes run to the end
def test_killed_call_resumes_to_the_same_result(stock, tmp_path):
    rows = tiny.write_csv(tmp_path / "rows.csv", 120)
    command = ["compress", str(stock), "--data", str(rows), "--keep", "0.5", "--json", "--out"]
    folder, log = tmp_path / "killed" / "out", tmp_path / "log"
    process = small.begin([*command, str(folder)], log)
    stages = folder.parent / "runs" / "compress-out" / "stages"
    deadline = time.monotonic() + 600
    while process.is_alive() and not list(stages.glob("source-*")) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.kill()
    process.join()
    assert not folder.exists()
    stage_names = {path.name for path in stages.glob("source-*")}
    for target, name in ((folder, "second"), (tmp_path / "undisturbed" / "out", "third")):
        process = small.begin([*command, str(target)], tmp_path / name)
        process.join()
        assert process.exitcode == 0, (tmp_path / name).read_text()
    assert stage_names and "there already" in (tmp_path / "second").read_text()
    weights = [(target / "model.safetensors").read_bytes() for target in (folder, tmp_path / "undisturbed" / "out")]
    assert weights[0] == weights[1]
    assert not [path for path in folder.parent.iterdir() if path.name.startswith(".out")]
    assert json.loads((folder / "compression.json").read_text())["chosen"] == "source-4bit"
