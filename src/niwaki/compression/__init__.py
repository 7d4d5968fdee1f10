"""Compresses a finished model: candidates from cheap to expensive, judged on validation rows, the smallest good one saved.

budget.py      "10MB", "5ms", "2min"
rows.py        the rows to judge and train on: the user's, or texts that the source labels itself
candidates.py  the stages to try, in order of cost
search.py      runs them through `run/runner.py` until one is good enough
result.py      what the user gets
"""
