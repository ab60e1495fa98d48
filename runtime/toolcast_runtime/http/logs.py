"""How a server's processes log: lines for people, or JSON for machines.

JSON needs `python-json-logger`, imported when it is asked for.
"""

from __future__ import annotations

import importlib.util
from typing import Any, Literal

from .settings import SettingsError

__all__ = ["LogFormat", "log_config"]

LogFormat = Literal["text", "json"]


def log_config(log_format: LogFormat, level: str = "INFO") -> dict[str, Any]:
    """The configuration for `logging.config.dictConfig`, the same in every worker.

    uvicorn's own line a request is left out: it would print query strings.

    Raises:
        SettingsError: JSON is asked for, and its library is not installed.
    """
    plain: dict[str, Any] = {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}
    if log_format == "json":
        if importlib.util.find_spec("pythonjsonlogger") is None:
            raise SettingsError(
                "logs in JSON need the package python-json-logger; install it"
            )
        from pythonjsonlogger.core import RESERVED_ATTRS

        plain = {
            "()": "pythonjsonlogger.json.JsonFormatter",
            "format": "%(asctime)s %(levelname)s %(name)s %(process)d %(message)s",
            "rename_fields": {"asctime": "time", "levelname": "level"},
            # uvicorn's message once more, with codes for terminals.
            "reserved_attrs": [*RESERVED_ATTRS, "color_message"],
        }
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": plain},
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "formatter": "line",
                "stream": "ext://sys.stderr",
            }
        },
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            # It tells of every manager and request; ours tells what came of them.
            "mcp": {"level": "WARNING"},
            "uvicorn.access": {"level": "ERROR"},
        },
    }
