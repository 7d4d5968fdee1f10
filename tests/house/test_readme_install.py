"""The code of README.md runs as printed from a built wheel in a new environment. Needs pip's index, and minutes."""

import csv
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tiny
from house.wheels import built_wheel
from niwaki.answers.likelihood import Likelihood

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
TOOL = ROOT / "tools" / "check_readme.py"
RECIPE = """\
model = "my-model"
task = "classification"
data = { path = "my.csv", max_tokens = 24 }
quantize = []
baselines = false
race = "short"

[[stages]]
name = "teacher"
train = { epochs = 1, lr = 2e-3 }
"""


@pytest.fixture
def files(tmp_path, bert_folder, encoder_folder):
    """What the README names, small."""
    home = tmp_path / "files"
    home.mkdir()
    shutil.copytree(bert_folder, home / "my-model")
    answers = {"mlm": Likelihood(mask_token_id=tiny.tokenizer().mask_token_id), "lm": Likelihood(scoring="causal")}
    for name, answer in answers.items():
        model = tiny.model("bert", head="MaskedLM", labels=[], niwaki_answer=answer.to_json(), is_decoder=name == "lm")
        tiny.with_graphs(model, home / name)
    shutil.copytree(encoder_folder, home / "encoder")
    rows = tiny.sentences(120)
    for name in ("reviews.csv", "my.csv"):
        with (home / name).open("w", newline="") as file:
            csv.writer(file).writerows([("text", "label"), *rows])
    (home / "my.toml").write_text(RECIPE)
    (home / "big.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text, _ in rows))
    (home / "corpus.txt").write_text("\n".join(text for text, _ in rows * 4))
    (home / "words.txt").write_text("film\nplot\ngood\nbad\n")
    (home / "job.py").write_text("print(sum(range(1000)))\n")
    return home


@pytest.mark.slow
def test_readme_runs_as_printed_from_a_wheel(files, tmp_path):
    wheel = built_wheel(tmp_path)
    command = [sys.executable, TOOL, README, wheel, ROOT / "constraints.txt", files]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    seconds = json.loads(done.stdout.splitlines()[-1])
    assert {line.split()[1] for line in seconds if line.startswith("niwaki ")} >= {"compress", "run", "predict", "new"}


def test_every_command_of_the_readme_is_run():
    """Only installation and `make` are left out: the environment is the installation."""
    listed = subprocess.check_output(
        [
            sys.executable,
            "-c",
            "import sys; sys.path.insert(0, 'tools'); import check_readme as c, pathlib; "
            "print('\\n'.join(c.commands(pathlib.Path('README.md').read_text())))",
        ],
        cwd=ROOT,
        text=True,
    ).splitlines()
    blocks = README.read_text(encoding="utf-8").split("```sh\n")[1:]
    lines = [line for block in blocks for line in block.split("```")[0].splitlines()]
    printed = [line for line in lines if line.startswith("niwaki ")]
    assert len(listed) == len(printed) >= 20
    assert all(line.startswith(command) for line, command in zip(printed, listed, strict=True))
