"""Forms: how a matrix or a table is kept, other than as plain floats. One form a file.

A form has `to_dense()`, the same as plain floats, and `repack(to_dense)`, another one kept in the same way: so edits that cut or
factorize need not know the forms there are. A form made of several matrices names them in `inner`.
"""
