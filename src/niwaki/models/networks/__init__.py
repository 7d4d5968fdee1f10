"""Networks of niwaki's own, without attention. Their families register them with transformers; a config can name no other."""
