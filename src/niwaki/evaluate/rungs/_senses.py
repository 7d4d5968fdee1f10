"""Why a rung has nothing to say of senses."""

PASSED = "senses are chosen among those of each lemma, so there are no labels that a linear model could tell apart"
