"""What generated code of the first layout imports; `toolcast_runtime.tools` has the classes."""

from ..tools.tool import Action, Tool

__all__ = ["Action", "Tool"]
