"""Packed weights: matrices and tables stored other than as plain floats. One representation per file.

A packed weight has `to_dense()`, which returns plain floats, and `repack(dense)`, which stores another matrix in the same way; so edits
that cut or factorize need not know the representations. One that consists of several matrices names them in `inner`.
"""
