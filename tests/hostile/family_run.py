"""Run folders whose files lie: what reports and `predict RUN` read."""

import json
import os

from hostile.sound import TEXT, write
from niwaki.core.documents import digest_of


def _spoilt(sound, folder, file, text):
    run = sound.copy("run", folder)
    (run / file).write_text(text)
    return ["report", str(run)]


def _plan(sound, folder, **values):
    plan = json.loads((sound.run / "plan.json").read_text())
    return _spoilt(sound, folder, "plan.json", json.dumps(_signed({**plan, **values})))


def _signed(values):
    """With the right digest: what a stranger wrote must be harmless, too."""
    content = {key: value for key, value in values.items() if key != "digest"}
    return {**content, "digest": digest_of(content)}


def a_plan_nested_without_end(sound, folder):
    return _spoilt(sound, folder, "plan.json", '{"version": 1, "stages": ' + "[" * 100_000 + "]" * 100_000 + "}")


def a_plan_of_four_million_lists(sound, folder):
    return _spoilt(sound, folder, "plan.json", '{"version": 1, "stages": [' + "[]," * 4_000_000 + "[]]}")


def a_plan_that_says_two_things(sound, folder):
    text = (sound.run / "plan.json").read_text().strip()
    return _spoilt(sound, folder, "plan.json", text[:-1] + ', "version": 1}')


def a_plan_of_a_gigabyte(sound, folder):
    args = _plan(sound, folder)
    os.truncate(folder / "run" / "plan.json", 1 << 30)
    return args


def a_stage_that_lies_elsewhere(sound, folder):
    stages = json.loads((sound.run / "plan.json").read_text())["stages"]
    return _plan(sound, folder, stages=[{**stages[0], "folder": "../../../../etc"}])


def no_stages(sound, folder):
    return _plan(sound, folder, stages={"__class__": "evil"})


def a_version_from_the_future(sound, folder):
    return _plan(sound, folder, version=[[[10**300]]])


def a_ledger_of_a_gigabyte(sound, folder):
    args = _plan(sound, folder)
    os.truncate(folder / "run" / "ledger.jsonl", 1 << 30)
    return args


def a_model_to_deploy_that_lies_elsewhere(sound, folder):
    _plan(sound, folder, stages=[{"name": "evil", "folder": "../../../../etc"}])
    write(folder / "run" / "report.json", _signed({"stages": [], "verdict": {"deploy": "evil"}}))
    return ["predict", str(folder / "run"), TEXT]


def a_verdict_that_is_a_list(sound, folder):
    _plan(sound, folder, stages="evil")
    write(folder / "run" / "report.json", _signed({"stages": [], "verdict": ["evil"]}))
    return ["predict", str(folder / "run"), TEXT]
