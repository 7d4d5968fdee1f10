"""Engines: what executes a finished model, from text to label."""

from niwaki.core.catalog import Catalog

RUNTIMES = Catalog("niwaki.engines.runtimes", what="engine", plural="engines")
