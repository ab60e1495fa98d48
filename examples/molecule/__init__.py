"""Molecule: an agent platform whose workspaces are real processes that talk A2A.

Every tool of the toolset has its handler here. A handler acts as one workspace (see
`registry.acting_workspace`) and keeps its state in one SQLite file that all processes
of the platform share (see `store`). Start the peers with

    python -m examples.molecule.platform start
"""
