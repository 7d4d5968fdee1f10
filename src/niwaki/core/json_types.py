"""The type of JSON objects whose values are checked where they are read."""

from typing import Any

Json = dict[str, Any]
