"""Import of existing tool lists: parse them, resolve conflicts, and plan the specs.

A file or a server's listing becomes a `ToolSource` (`source_file`, `formats`). `conflicts` merges
several sources into one, and `plan` turns that source into an edit of the project's specs.
"""
