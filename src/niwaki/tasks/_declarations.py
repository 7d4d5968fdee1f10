"""What a task declares about its data: the columns it reads, and where a published data set is found."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class TableFormat:
    """How the columns of a table are read and how its rows are split."""

    layout: str  # the columns of which kind of task are guessed, see data/columns.py
    roles: tuple[str, ...]  # settings that name columns; empty ones are guessed
    optional: tuple[str, ...] = ()  # columns that are read under a fixed name if they exist
    stratify_by: str = ""  # column whose values have the same shares in every split
    group_by_text: bool = False  # count rows instead of distinct texts when splitting, since few texts are distinct
    sample_by: tuple[str, ...] = ("text",)  # columns whose hash selects the rows of `data.rows`
    path_settings: tuple[str, ...] = ()  # settings that hold paths; paths do not change the fingerprint


@dataclass(frozen=True)
class Published:
    """A published data set. The defaults are those of a task on the user's own rows."""

    folder: str = ""  # name of its folder in a folder of tasks
    hub_id: str = ""
    evaluation_splits: Mapping[str, str] = field(default_factory=dict)  # our split name → its name, if it differs
    columns: Mapping[str, str] = field(default_factory=dict)  # role → column, if they are not guessed
    caveat: str = ""  # what readers of its scores must know
    embedded: bool = False  # the rows come with niwaki or from code, so there is no path
