"""Handlers of the ren toolset, over two databases and Letta's management API.

Each section has a module with its handlers. Application tables are in the main pool,
the Agent Memory Schema is in the memory pool (`pools.py`). `core_memory.py` uses
Letta's management API, which does not run the agent. `agent_loop.py` runs it; only
tools whose spec declares `calls_agent_loop` may use it.
"""
