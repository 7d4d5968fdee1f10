"""Methods: one idea per file, in the folder of its family. `_method` defines the protocols that a method combines."""

from niwaki.core.catalog import Catalog

METHODS = Catalog("niwaki.methods", what="method")
