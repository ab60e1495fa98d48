"""Tools that exist already, taken in from lists in any form.

A file becomes a `Source` (`source_file`), whatever its form (`forms`), and so does what a
server lists (`source`). Of several sources `disagreements` are found, a `preference` says which
counts, and `reconciled` gives the one source that is written as specs.
"""
