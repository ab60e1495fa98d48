"""The shop's server, whose clock and patience the tests set; run as a module."""

from __future__ import annotations

import os
import time
from pathlib import Path

from generated.shop.mcp_server import SERVER
from toolcast_runtime.consent import questions

if __name__ == "__main__":
    real = time.time

    def later() -> float:
        file = Path(os.environ["SHOP_DONE"]).with_suffix(".later")
        return real() + (float(file.read_text()) if file.exists() else 0.0)

    time.time = later
    questions.ANSWER_TIMEOUT_S = float(os.environ.get("SHOP_PATIENCE", "600"))
    SERVER.main()
