"""Tables of word vectors: read, compared and aligned across languages, times or groups of speakers. No torch."""
