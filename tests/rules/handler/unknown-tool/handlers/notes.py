from toolcast_runtime import ToolError


def note():
    raise ToolError("There is no such note: call search_memory first.")
