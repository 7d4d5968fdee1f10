"""What changed between two models on the same rows: one idea per file; `comparison.py` puts them together."""
