"""Why several rungs have nothing to say of a kind of answer."""

NO_LABELS = "senses are chosen among those of each lemma, so there are no labels that a linear model could tell apart"
NO_PLACES = "vectors of words do not tell where the predicate stands"
NO_WRITING = "a linear model chooses among labels, and what is written is none of them"
