"""The task that a call names, or that its rows are for."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.core.log import info
from niwaki.run.start import data_overrides

if TYPE_CHECKING:
    from niwaki.tasks._task import Task


def choose_task(
    task: str, data: str | Path, overrides: Sequence[str], carry: Sequence[str] = (), whole: bool = False
) -> "Task":
    """The task with its rows. `carry` names columns of the user's that follow their rows; with `whole` no parts are cut."""
    from niwaki.core.settings import check as checked
    from niwaki.run.overrides import apply_override
    from niwaki.tasks import TASKS
    from niwaki.tasks._task import Task

    values: Json = {"data": {}}
    named = [f"task={task}"] if task else []
    for override in (
        *(data_overrides(str(data), [*named, *overrides]) if data else named or ["task=rotten_tomatoes"]),
        *overrides,
    ):
        if not override.startswith(("data.", "data=", "task=")):
            raise InputError(f"--set {override}: only settings of the data count here; write data.key=value")
        apply_override(values, override)
    chosen = checked(TASKS.load(values["task"], Task), values["data"], "data")
    chosen.data.carry_columns(carry)
    chosen.data.whole = whole
    for remark in chosen.data.remarks():
        info(remark)
    return chosen
