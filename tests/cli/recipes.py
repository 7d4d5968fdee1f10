"""A recipe of one stage, and rows in several shapes."""

import shutil
from pathlib import Path

ONE_STAGE = """\
model = {model}
task = "classification"
quantize = []
data = {{ path = {rows} }}

[[stages]]
name = "teacher"
train = {{ epochs = 0.1 }}
"""


def copied_model(bert_folder: Path, folder: Path) -> Path:
    shutil.copytree(bert_folder, folder / "model")
    return folder / "model"


ROWS = "\n".join(f"film number {k} was {'good' if k % 2 else 'bad'},{'good' if k % 2 else 'bad'}" for k in range(60))
THREE = "\n".join(f"film number {k} was long and dear,the plot of number {k} is known,{'ab'[k % 2]}" for k in range(60))
KINDS = "\n".join(f"film number {k} was seen,{'ab'[k % 2]},{'xy'[k // 2 % 2]}" for k in range(60))
