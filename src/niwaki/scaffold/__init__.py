"""Writes a new catalogue entry and its test from templates: into a checkout, any folder, or a package of its own."""
