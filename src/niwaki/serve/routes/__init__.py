"""The routes, one file per interface. Each file has a `router`."""
