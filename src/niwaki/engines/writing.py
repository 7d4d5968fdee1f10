"""How a model in a folder writes: the search that its kind of answer says."""

from pathlib import Path

from niwaki.answers._choose import kind_of
from niwaki.answers._search import Search
from niwaki.answers.text import Text
from niwaki.core import strict_json
from niwaki.core.errors import Refused
from niwaki.models.config_rules import checked

MOST_CONFIG_BYTES = 8 << 20


def search_of(folder: Path) -> Search:
    where = folder / "config.json"
    kind = kind_of(checked(strict_json.read(where, MOST_CONFIG_BYTES), str(where)), str(where))
    if not isinstance(kind, Text):
        raise Refused(f"{where}: the network writes, and its answers are not read as texts (niwaki_answer)")
    return kind.opened(folder, []).search
