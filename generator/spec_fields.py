"""Write the spec fields that the runtime ships, or check with --check that they are current.

`make generate` and `make check` run it: the runtime's generated tests read the file.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from toolcast.spec_language.definition_fields import render_definition_fields
from toolcast_runtime import testing


def main() -> int:
    """Write the file, or check it with --check; return the exit code.

    The exit code is 1 if --check finds a missing or different file, otherwise 0.
    """
    path = Path(testing.__path__[0]) / "spec_fields.json"
    text = render_definition_fields()
    if path.is_file() and path.read_text("utf-8") == text:
        return 0
    shown = os.path.relpath(path)
    if "--check" in sys.argv[1:]:
        print(f"error: {shown}: the fields differ from those of the spec language")
        print("help: run `make generate` and commit the file")
        return 1
    path.write_text(text, "utf-8")
    print(f"wrote {shown}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
