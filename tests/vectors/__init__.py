"""Word vectors and their alignment."""
