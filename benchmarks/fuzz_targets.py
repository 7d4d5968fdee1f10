"""Targets of fuzz.py: each returns seed inputs and a function that takes one input. They import niwaki when called, so that it is
instrumented."""

import contextlib
import io
import json
from pathlib import Path
from typing import Any


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

    def check(recipe: Recipe) -> None:
        assert to_toml(recipe)
        plan = make_plan(recipe, "fuzz")
        json.dumps({**plan.to_json(), "estimate": estimate(plan)})

    def call(data: bytes) -> None:
        if not data.startswith(b"{"):
            path.write_bytes(data)
            check(read(path))
            return
        try:
            values = json.loads(data)
        except (ValueError, RecursionError):
            return
        overrides = values.pop("set", None)
        for override in overrides if isinstance(overrides, list) else []:
            apply_override(values, str(override))
        check(parse(values))

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
        layers = len(model.anatomy.layers)
        model.apply_edit(Heads(keep=[[0, 2]] * layers))
        model.apply_edit(Ffn(keep=[16] * layers))
        if layers > 1:
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


def program_target(folder: Path) -> tuple[list[bytes], Any]:
    """A program of the native engine without its digests: of an encoder, an encoder–decoder or a language model, run on a few tokens."""
    import numpy as np

    import tiny
    from niwaki.answers._beam_search import SearchSettings
    from niwaki.core.settings import check
    from niwaki.engines.native.decoder_program import LanguageProgram, TextProgram
    from niwaki.engines.native.generator import Generator
    from niwaki.engines.native.language import LanguageNetwork
    from niwaki.engines.native.network import Network
    from niwaki.engines.native.program import Program
    from niwaki.engines.native.translate import translate
    from niwaki.models.edits.int8 import Int8
    from niwaki.models.ties import unique_tensors
    from seq2seq import seq2seq_model

    models = {
        "layers": tiny.model("bert", layers=1),
        "decoder": seq2seq_model("bert", layers=1),
        "language_model": tiny.model("llama", layers=1, head="MaskedLM"),
    }
    models["decoder"].apply_edit(Int8())
    seeds = [
        translate(model.network, model.anatomy).model_dump_json(exclude_none=True).encode() for model in models.values()
    ]
    tensors = {
        key: {name: value.numpy() for name, value in unique_tensors(model.network).items()}
        for key, model in models.items()
    }
    ids, lengths, how = np.array([5, 6, 7, 8]), np.array([3, 1]), SearchSettings(beam=2, max_new_tokens=3)

    def call(data: bytes) -> None:
        try:
            values = json.loads(data)
        except (ValueError, RecursionError):
            return
        key = next(
            (key for key in ("decoder", "language_model") if isinstance(values, dict) and key in values), "layers"
        )
        if key == "decoder":
            Generator(check(TextProgram, values, "program"), tensors[key], "program").generate(
                ids, ids * 0, lengths, how
            )
        elif key == "language_model":
            LanguageNetwork(check(LanguageProgram, values, "program"), tensors[key], "program")(ids, lengths)
        else:
            Network(check(Program, values, "program"), tensors[key], "program")(ids, ids * 0, lengths)

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
    api.load = lambda model, engine, **_: predictors[model]
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
    trees = [json.dumps({kind: inputs[:3]}, default=vars).encode() for kind, inputs in INPUTS.items()]
    return [*lines, "aé\u202e漢字 \U0001f600\n\n".encode(), *trees], call
