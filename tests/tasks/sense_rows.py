"""Sentences for tests of senses."""

from tasks.inventory import sentence

ROWS = [sentence(n) for n in range(40)]
