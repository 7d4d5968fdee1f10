"""The cascade that a recipe ends with: made of finished stages of the first seed, in the folder `cascade` of the run."""

import shutil
from pathlib import Path

from niwaki.core.errors import GateMissed
from niwaki.core.files import MANIFEST, sha256
from niwaki.core.json_types import Json
from niwaki.core.log import info
from niwaki.core.model_integrity import MODEL
from niwaki.core.run_folder import CASCADE, fault_in_cascade
from niwaki.meter.ledger import Ledger
from niwaki.run.cascade import make
from niwaki.run.plan import Plan
from niwaki.run.recipe_settings import CascadeSettings

CASCADE_FILE = f"{CASCADE}.json"
VERSION = 1  # raised when the same stages give another cascade


def cascade_of_run(plan: Plan, folder: Path, ledger: Ledger) -> Json:
    """Makes the cascade and returns the content of cascade.json. If the validation rows cannot show that it keeps the share, there is
    no cascade, and the content says why."""
    settings = chosen(plan)
    models = [folder / plan.stage(name).folder / MODEL for name in settings.stages]
    known = {"version": VERSION, "stages": settings.stages, "keep": settings.keep, "level": settings.level}
    target = folder / CASCADE
    with ledger.begin(stage=CASCADE, what="cascade", window=plan.recipe.meter.window()):
        try:
            summary = make(models, plan.task, target, settings.keep, settings.level)
        except GateMissed as error:
            info(f"cascade: {error}")
            return {**known, "missed": str(error)}
    parts = {name: summary[name] for name in ("metric", "threshold", "validation", "test", "speed")}
    return {**known, **parts, "missed": None, MANIFEST: sha256(target / MANIFEST)}


def cascade_inputs(plan: Plan) -> Json:
    """What the cascade of a run depends on."""
    settings = chosen(plan)
    keys = [plan.stage(name).key for name in settings.stages]
    return {"version": VERSION, "data": plan.task.data.fingerprint(), "keys": keys, **settings.model_dump()}


def chosen(plan: Plan) -> CascadeSettings:
    assert plan.recipe.cascade is not None  # callers check
    return plan.recipe.cascade


def discard_other_cascade(folder: Path, needs: Json) -> None:
    """Removes a cascade of an earlier recipe or of other stages, and a damaged one with a message."""
    from niwaki.core.documents import fault_in_document, read_document

    document = folder / CASCADE_FILE
    same = (
        CASCADE_FILE in needs
        and document.exists()
        and fault_in_document(document) is None
        and read_document(document).get("inputs") == needs[CASCADE_FILE]
    )
    fault = fault_in_cascade(folder) if same else None
    if fault:
        info(f"{fault}; the cascade is made again")
    if fault or not same:
        document.unlink(missing_ok=True)
        shutil.rmtree(folder / CASCADE, ignore_errors=True)
