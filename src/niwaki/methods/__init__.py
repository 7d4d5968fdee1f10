"""Methods: one idea a file, in the folder of its family. A method has five moments, each optional (see `_method`)."""

from niwaki.core.catalog import Catalog

METHODS = Catalog("niwaki.methods", what="method")
