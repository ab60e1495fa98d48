"""Handlers of the molecule toolset: an agent platform of workspaces that talk A2A.

A handler acts as one workspace (see `registry.get_acting_workspace`). Its state is in
a SQLite file that all processes of the platform share (see `store`). Start the other
workspaces with

    python -m examples.molecule.platform start
"""
