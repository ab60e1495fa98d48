"""Tools that exist already, taken in from lists in any form.

A file becomes a `Source` (`source_file`), whatever its form (`forms`), and so does what a
server lists. Of several sources `disagreements` are found and settled, and the one that is left
is written as specs (`importing`).
"""
