"""Engines run finished models, from text to answer."""

from niwaki.core.catalog import Catalog

RUNTIMES = Catalog("niwaki.engines.runtimes", what="engine", plural="engines")
