"""What is sound, to be spoilt: a served model, an edited one, one that writes, a run, rows and a recipe. And the list of hostile cases.

A case is a function `(sound, folder) -> arguments`: it makes hostile files in the folder and gives the command line that
meets them. The families are the files `family_*.py`, ten cases each; the function's name says the trick.
"""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RECIPE = 'model = "{model}"\ntask = "classification"\nquantize = []\ndata = {{ path = "{rows}" }}\n\n[[stages]]\nname = "teacher"\ntrain = {{ epochs = 0.1 }}\n'
TEXT = "a lovely film"
Make = Callable[["Sound", Path], list[str]]


@dataclass(frozen=True)
class Sound:
    model: Path  # with a graph
    edited: Path  # with a blueprint, without a graph
    seq2seq: Path  # with graphs, a target tokenizer and a grammar
    run: Path
    rows: Path
    recipe: Path

    def copy(self, name: str, folder: Path) -> Path:
        """A copy of one of them to spoil."""
        source = getattr(self, name)
        target = folder / name
        return Path(shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target))

    def changed(self, folder: Path, file: str, **values: Any) -> list[str]:
        """The command that meets a model with other values in one of its JSON files."""
        model = self.copy("model", folder)
        path = model / file
        write(path, {**(json.loads(path.read_text()) if path.exists() else {}), **values})
        return ["predict", str(model), TEXT]

    def rows_in(self, path: Path) -> list[str]:
        """The command that reads rows; a recipe whose model is not read before them."""
        return ["check", str(self.recipe), "--data", str(path)]


@dataclass(frozen=True)
class Case:
    family: str
    trick: str
    make: Make

    def __str__(self) -> str:
        return f"{self.family}-{self.trick}"


def cases() -> list[Case]:
    """All of them, the folder being the list."""
    found = []
    for path in sorted(Path(__file__).parent.glob("family_*.py")):
        name = path.stem
        module = __import__(f"hostile.{name}", fromlist=[name])
        tricks = [
            (key, value) for key, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__
        ]
        family = name.removeprefix("family_")
        found += [Case(family, key, value) for key, value in tricks if callable(value) and not key.startswith("_")]
    return found


def write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value), encoding="utf-8")


def make_sound(folder: Path) -> Sound:
    import tiny
    from niwaki.engines.export import write_graph
    from niwaki.models.edits.heads import Heads
    from niwaki.models.edits.int8 import Int8
    from report.runs import make_full

    model, edited = folder / "model", folder / "edited"
    for path in (model, edited):
        path.mkdir(parents=True)
    stock = tiny.model("bert")
    stock.save(model)
    write_graph(stock, model)
    cut = tiny.model("bert")
    cut.apply_edit(Heads(keep=[[0, 2], [1], [3]]))
    cut.apply_edit(Int8())
    cut.save(edited)
    save_seq2seq(folder / "seq2seq")
    rows = tiny.write_csv(folder / "rows.csv")
    recipe = folder / "recipe.toml"
    recipe.write_text(RECIPE.format(model=model, rows=rows), encoding="utf-8")
    return Sound(model, edited, folder / "seq2seq", make_full(folder / "run"), rows, recipe)


def save_seq2seq(folder: Path) -> None:
    """It generates any number of `w1`, then the end."""
    import seq2seq
    import tiny
    from niwaki.answers._grammar import END, to_bytes
    from niwaki.answers.text import GRAMMAR, TARGET, Text
    from niwaki.engines.export import write_graph
    from niwaki.tokenization.training import make

    model = seq2seq.seq2seq_model(niwaki_answer=Text(max_new_tokens=6, grammar=True).to_json())
    model.sibling_files = {
        TARGET: make(
            [" ".join(f"w{number}" for number in range(tiny.TARGET_TOKENS))], "words", tiny.TARGET_TOKENS
        ).encode(),
        GRAMMAR: to_bytes([[(["w0"], [1])], [(["w1"], [1]), ([END], [])]]),
    }
    folder.mkdir()
    model.save(folder)
    write_graph(model, folder)
