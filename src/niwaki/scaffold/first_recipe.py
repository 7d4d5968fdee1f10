"""A first recipe for a user's own rows: a shipped one with his data and model in it."""

import json
from pathlib import Path

from niwaki.core.errors import InputError, UsageError, did_you_mean
from niwaki.core.files import require_writable, write_text
from niwaki.core.json_types import Json
from niwaki.core.recipes import recipe_files

GOALS = {"balanced": "own_data", "small": "thin", "fast": "averaging", "accurate": "finetune"}  # goal → shipped recipe


def write_recipe(data: str, model: str, goal: str, out: Path) -> Json:
    """Writes a recipe file, after its data and model were found, and returns what it contains."""
    from niwaki.models.sources import locate
    from niwaki.run.start import infer_task, is_generation_task

    if goal not in GOALS:
        raise UsageError(f"goal '{goal}': is not one{did_you_mean(goal, list(GOALS))}")
    if out.exists():
        raise InputError(f"{out}: exists already; remove it, or choose another file with --out")
    require_writable(out.parent)
    task = infer_task(data, [])
    locate(model)
    name = "seq2seq" if is_generation_task(task) else GOALS[goal]
    write_text(out, filled(recipe_files()[name].read_text(encoding="utf-8"), {"model": model, "task": task}, data))
    return {"recipe": name, "task": task, "model": model, "data": data, "path": str(out)}


def filled(text: str, values: dict[str, str], data: str) -> str:
    """The text of a recipe with other values of its top keys, and the path of the rows below them."""
    lines = []
    for line in text.splitlines():
        key = line.partition("=")[0].strip()
        lines.append(f"{key} = {json.dumps(values[key], ensure_ascii=False)}" if key in values else line)
        if key == "task":
            lines.append(f"data = {{ path = {json.dumps(data, ensure_ascii=False)} }}")
    return "\n".join(lines) + "\n"
