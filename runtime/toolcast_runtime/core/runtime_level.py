"""The runtime level: the version of the interface that generated code uses."""

from __future__ import annotations

RUNTIME_LEVEL = 1
"""The level of generated code that this runtime serves."""


def require_level(level: int, package: str) -> None:
    """Check that this runtime serves a generated package.

    Args:
        level: the runtime level that the package is generated for.
        package: the package's name.

    Raises:
        ImportError: the levels differ. The message states which side to replace.
    """
    if level == RUNTIME_LEVEL:
        return
    action = "install a newer toolcast-runtime"
    if level < RUNTIME_LEVEL:
        action = (
            "generate it with a newer toolcast, or install an older toolcast-runtime"
        )
    raise ImportError(
        f"{package} is generated for runtime level {level}, but the installed"
        f" toolcast-runtime serves level {RUNTIME_LEVEL}: {action}"
    )
