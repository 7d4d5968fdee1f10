"""Networks that transformers does not have. Their families register them with transformers; a config can name no others."""
