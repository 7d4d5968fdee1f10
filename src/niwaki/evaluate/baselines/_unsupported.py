"""Why several baselines do not support an answer type."""

NO_LABELS = "senses are chosen among those of each lemma, so there are no common labels for a linear model"
NO_PLACES = "word vectors do not contain the position of the predicate"
NO_WRITING = "a linear model chooses among labels and cannot generate text"
NO_VECTORS = "embeddings are compared with each other, and there are no labels to learn"
