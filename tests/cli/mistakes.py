"""What users do wrong at the command line. Each is a command in a folder that has rows.csv, recipe.toml, a model and a finished run;
what has to be there besides is written first."""

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

ROWS = [(f"film number {k} was long and dear", f"the plot of number {k} is known", "ab"[k % 2]) for k in range(60)]


class Mistake(NamedTuple):
    command: str  # as it is typed, without `niwaki`
    before: Callable[[Path], None] = lambda folder: None
    then: Mapping[str, str] = MappingProxyType(
        {}
    )  # what a user knows and the advice leaves out: command → the whole of it
    code: int = 0  # what following the advice ends with


def write(name: str, text: str) -> Callable[[Path], None]:
    def before(folder: Path) -> None:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)

    return before


def table(*columns: str) -> str:
    """Pairs of texts and labels under these names."""
    return "\n".join([",".join(columns), *(",".join(row) for row in ROWS)]) + "\n"


def recipe(old: str, new: str) -> Callable[[Path], None]:
    return lambda folder: (folder / "recipe.toml").write_text((folder / "recipe.toml").read_text().replace(old, new))


def without(*names: str) -> Callable[[Path], None]:
    def before(folder: Path) -> None:
        for path in (folder / name for name in names):
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    return before


def as_pickle(folder: Path) -> None:
    """Weights as torch once saved them."""
    import torch
    from safetensors.torch import load_file

    torch.save(load_file(folder / "model" / "model.safetensors"), folder / "model" / "pytorch_model.bin")
    (folder / "model" / "model.safetensors").unlink()


def without_program(folder: Path) -> None:
    """A model that was not written for the native engine."""
    shutil.copytree(next((folder / "run").glob("stages/teacher-*/model")), folder / "served")
    (folder / "served" / "native.json").unlink(missing_ok=True)


LISTS = "".join(
    json.dumps({"tokens": text.split(), "ner_tags": ["X", "O", "O", "O", "O", "O", "O"], "pos_tags": ["N"] * 7}) + "\n"
    for text, _, _ in ROWS
)
CHOICE = "".join(
    json.dumps({"article": text, "question": other, "options": ["a", "b"], "answer": k % 2}) + "\n"
    for k, (text, other, _) in enumerate(ROWS)
)
RUN = {"niwaki run": "run recipe.toml --out run", "niwaki report": "report run"}

MISTAKES = {
    # verbs, names and options
    "a verb": Mistake("lsit"),
    "a kind of list": Mistake("list method"),
    "a shipped recipe": Mistake("check rotten_tomatos --set quantize=[]"),
    "a name to show": Mistake("show logit"),
    "a plug-in": Mistake("new metod mine --family prune --into ."),
    "a family of methods": Mistake("new method mine --family prun --into ."),
    "a way to sum": Mistake("ledger run --by stag"),
    "an engine": Mistake("eval run --data rows.csv --engine onx"),
    "a split": Mistake("eval run --data rows.csv --split tets"),
    "a task to evaluate": Mistake(
        "eval run --task imdbb", code=3
    ),  # it gets past the name: the run's labels are others
    "a target of export": Mistake("export run --to nativ --out exported"),
    "a way to tokenize": Mistake("tokenizer rows.csv --split bpee --column text --out made"),
    "a column to tokenize": Mistake("tokenizer rows.csv --column txt --out made"),
    "a command to measure": Mistake("measure", then={"niwaki measure -- python job.py": "measure -- true"}),
    "sensitivity of nothing": Mistake(
        "show sensitivity", then={"niwaki show sensitivity runs/mine": "show sensitivity run --data rows.csv"}
    ),
    # recipes and overrides
    "rows for a recipe": Mistake("check rows.csv --set model=model"),
    "rows in a folder for a recipe": Mistake(
        "check 'my rows' --set model=model", before=write("my rows/train.csv", table("text", "second", "label"))
    ),
    "a key of a recipe": Mistake("check recipe.toml", before=recipe("task =", "tasc =")),
    "a task": Mistake("check recipe.toml", before=recipe('"classification"', '"clasification"')),
    "a method": Mistake("check recipe.toml", before=recipe('"int8"', '"int9"')),
    "a setting of a method": Mistake(
        "check recipe.toml", before=recipe('{ use = "int8" }', '{ use = "int8", embedings = false }')
    ),
    "a setting of training": Mistake("check recipe.toml", before=recipe("epochs", "epoch")),
    "a setting of the data": Mistake("check recipe.toml", before=recipe("max_tokens", "max_token")),
    "a key in an override": Mistake("check recipe.toml --set seeed=1"),
    "a stage in an override": Mistake("check recipe.toml --set stages.tacher.train.epochs=1"),
    "a method in an override": Mistake("check recipe.toml --set stages.int8.methods.int9.embeddings=false"),
    "a place": Mistake("check recipe.toml --set meter.place=Frnace"),
    "an overhead": Mistake("check recipe.toml --set meter.pue=awss"),
    "a price": Mistake("check recipe.toml --set meter.price=aws-m55"),
    # models
    "a model without owner": Mistake(
        "check recipe.toml --set model=bert-base-uncased", code=3
    ),  # the hub is not reached here
    "an embedded model": Mistake("check recipe.toml --set model=minilmm"),
    "a pickle": Mistake("check recipe.toml", before=as_pickle),
    "a model without a program": Mistake("predict served text --engine native", before=without_program),
    # rows
    "two texts": Mistake(
        "check --data pairs.csv --set model=model", before=write("pairs.csv", table("first", "other text", "label"))
    ),
    "two texts and one named": Mistake(
        "check --data pairs.csv --set model=model --set data.text=first",
        before=write("pairs.csv", table("first", "other text", "label")),
    ),
    "columns called by numbers": Mistake(
        "check --data pairs.csv --set model=model", before=write("pairs.csv", table("2019", "2020", "label"))
    ),
    "pairs in two languages": Mistake(
        "check --data both.csv --set model=model",
        before=write(
            "both.csv",
            "premise_de,hypothesis_de,premise_en,hypothesis_en,label\n"
            + "".join(f"{a},{b},{a} it,{b} it,{c}\n" for a, b, c in ROWS),
        ),
    ),
    "two labels": Mistake(
        "check --data both.csv --set model=model",
        before=write(
            "both.csv",
            "text,genre,topic\n" + "".join(f"{a},{c},{'xy'[k // 2 % 2]}\n" for k, (a, _, c) in enumerate(ROWS)),
        ),
    ),
    "two texts and two labels": Mistake(
        "check --data both.csv --set model=model",
        before=write(
            "both.csv",
            "review,comment,genre,topic\n"
            + "".join(f"{a},{b},{c},{'xy'[k // 2 % 2]}\n" for k, (a, b, c) in enumerate(ROWS)),
        ),
    ),
    "a column": Mistake("check recipe.toml --set data.text=txt"),
    "a column of rows of one's own": Mistake("check --data rows.csv --set model=model --set data.text=txt"),
    "two columns of tags": Mistake("check --data tags.jsonl --set model=model", before=write("tags.jsonl", LISTS)),
    "two beginnings": Mistake("check --data race.jsonl --set model=model", before=write("race.jsonl", CHOICE)),
    "a folder of tasks": Mistake(
        "check --data tasks --set model=model",
        before=lambda folder: (
            [
                write(f"tasks-{name}", "")(folder) or (folder / "tasks" / name).mkdir(parents=True)
                for name in ("rte", "wnli")
            ]
            and None
        ),
        code=3,
    ),  # they are empty
    # runs
    "no run at all": Mistake("ledger", before=without("run"), then={"niwaki run": "list"}, code=0),
    "a run without a report": Mistake("predict run text", before=without("run/report.json"), then=RUN),
    "a run without a plan": Mistake("report run", before=without("run/plan.json"), then=RUN),
    "a plan that is none": Mistake("show run", before=write("run/plan.json", "[]"), then=RUN),
}
