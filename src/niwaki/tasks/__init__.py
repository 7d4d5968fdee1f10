"""Tasks: data splits, features, head and metrics. One file per kind of task or named task."""

from niwaki.core.catalog import Catalog

TASKS = Catalog("niwaki.tasks", what="task")
