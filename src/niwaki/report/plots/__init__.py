"""Plots as plain SVG: no library's output is small and allowed by a strict content policy (docs/report.md)."""
