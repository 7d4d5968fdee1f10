"""One thing, described: what it is, what can be set, what it is made of."""

from dataclasses import asdict
from pathlib import Path

from niwaki.answers._from_config import labels_of
from niwaki.core.errors import InputError, did_you_mean
from niwaki.core.extras import missing_package
from niwaki.core.files import folder_bytes
from niwaki.core.head_folder import head_names
from niwaki.core.json_types import Json
from niwaki.core.model_integrity import warn_unverified
from niwaki.core.run_folder import VerifiedRun, is_run, open_run
from niwaki.core.settings import Settings
from niwaki.core.shards import weight_paths
from niwaki.core.tensor_file import read_header
from niwaki.models.family import family_of

Description = tuple[Json, str]  # as data, and as text


def show(what: str) -> Description:
    from niwaki.listing import catalogs, recipes

    path = Path(what).expanduser()
    if path.is_dir():
        return show_run(path) if is_run(path) else show_model(path)
    names = {kind: catalogs()[kind].names() for kind in ("methods", "tasks")}
    found = [show_settings(kind, what) for kind, known in names.items() if what in known]
    found += [show_recipe(recipe) for recipe in recipes() if recipe["name"] == what]
    if not found:
        known = [*names["methods"], *names["tasks"], *(recipe["name"] for recipe in recipes())]
        raise InputError(f"'{what}': is neither a folder nor a known name{did_you_mean(what, known)}")
    (value, text), *others = found  # a task and a recipe may share a name: both are shown
    also = {"also": [other for other, _ in others]} if others else {}
    return {**value, **also}, "\n\n".join([text, *(more for _, more in others)])


def show_settings(kind: str, name: str) -> Description:
    from niwaki.listing import catalogs

    catalog = catalogs()[kind]
    found: type[Settings] = catalog.load(name, Settings)
    doc = (catalog.module(name).__doc__ or "").strip()
    fields = [
        {
            "name": key,
            "type": str(field.annotation).removeprefix("<class '").removesuffix("'>"),
            "default": field.get_default(),
            "remark": field.description,
        }
        for key, field in found.model_fields.items()
    ]
    lines = [f"  {field['name']} = {field['default']!r}\n      {field['remark']}" for field in fields]
    return {"name": name, "kind": kind, "doc": doc, "settings": fields}, "\n".join([doc, "", *lines])


def show_recipe(row: dict[str, str]) -> Description:
    from niwaki.core.recipe_figures import measured_figures
    from niwaki.core.recipes import recipe_files

    text = recipe_files()[row["name"]].read_text(encoding="utf-8")
    figures = measured_figures().get(row["name"], [])
    lines = [f"# measured: {one.sentence()}\n" for one in figures]
    return {**row, "toml": text, "measured": [asdict(one) for one in figures]}, text + "".join(
        ["\n" * bool(lines), *lines]
    )


def show_model(folder: Path) -> Description:
    if missing_package("torch"):
        return show_model_files(folder)
    from niwaki.models.model import load_folder

    model = load_folder(folder)
    warn_unverified(folder)
    written = (
        {"decoder_layers": len(model.anatomy.stacks["decoder layer"])}
        if "decoder layer" in model.anatomy.stacks
        else {}
    )
    plain = family_of(model.network.config.model_type).in_transformers and not model.blueprint.edits
    value = {
        "folder": str(folder),
        "family": model.network.config.model_type,
        "labels": model.labels,
        "further_heads": head_names(folder),
        "layers": len(model.anatomy.order),
        **written,
        "width": model.anatomy.hidden_size,
        "heads": [layer.heads for layer in model.anatomy.attentions],
        "neurons": [block.ffn_size for block in model.anatomy.blocks],
        **({"vocabulary": model.anatomy.tokens.num_embeddings} if model.anatomy.family.inputs.reads == "texts" else {}),
        "parameters": model.parameters(),
        "bytes": folder_bytes(folder),
        "plain_transformers": plain,
        "blueprint": model.blueprint.to_json()["edits"],
    }
    return value, "\n".join(f"{key:<20} {item}" for key, item in value.items())


def show_model_files(folder: Path) -> Description:
    """What the files say, without torch: sizes from the config and the header of the weights."""
    from niwaki.engines.cascade import engines_of
    from niwaki.engines.predictor import check_model_folder

    config = check_model_folder(folder)
    warn_unverified(folder)
    value = {
        "folder": str(folder),
        "family": config.get("model_type"),
        "labels": labels_of(config, str(folder)),
        "further_heads": head_names(folder),
        "layers": config.get("num_hidden_layers"),
        "stored_numbers": sum(read_header(path).numel for path in weight_paths(folder)),
        "bytes": folder_bytes(folder),
        "engines": engines_of(folder),
    }
    return value, "\n".join(f"{key:<20} {item}" for key, item in value.items())


def show_run(folder: Path) -> Description:
    run = open_run(folder)
    try:
        return run.plan, _stages_of(run)
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{folder / 'plan.json'}: is not a plan ({type(error).__name__}: {error}); `niwaki run` writes it again"
        ) from None


def _stages_of(run: VerifiedRun) -> str:
    plan = run.plan
    lines = [f"{run.folder}: {plan['model']} on {plan['task']['name']}, seed {plan['seed']}"]
    for stage in plan["stages"]:
        result = run.result(stage)
        methods = ", ".join(method["use"] for method in stage["methods"]) or "fine-tune"
        score = f"{result['score']['value']:.4f}" if result else "not made"
        lines.append(f"  {stage['name']:<14} {score:<9} {methods:<36} {stage['folder']}")
    return "\n".join(lines)
