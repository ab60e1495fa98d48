"""Handlers of the ren toolset, over two databases and Letta's management API.

One module a section holds the functions that the specs name. Application tables are in
the main pool, the Agent Memory Schema in the memory pool (`pools.py`). `core_memory.py`
speaks with Letta's management API and never wakes the agent; `agent_loop.py` does, and
only tools whose spec says `calls_agent_loop` may reach it.
"""
