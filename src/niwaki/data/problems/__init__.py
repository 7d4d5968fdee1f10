"""Problems that are easy in one direction and hard in the other: pairs are generated, answers are verified. One file each."""

from niwaki.core.catalog import Catalog

PROBLEMS = Catalog("niwaki.data.problems", what="problem")
