"""What plain pytest leaves out where an extension of this repository is not installed.

A toolset with fields of it has a server that needs its package, and so have the snapshot tests.
"""

from tests.repository import LEFT_OUT

collect_ignore = [f"generated/{name}" for name in LEFT_OUT]
