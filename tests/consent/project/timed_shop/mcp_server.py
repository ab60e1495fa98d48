"""The shop's server with a clock and an answer timeout that tests set."""

from __future__ import annotations

import os
import time
from pathlib import Path

from generated.shop.mcp_server import SERVER
from toolcast_runtime.consent import questions

if __name__ == "__main__":
    real_time = time.time

    def shifted_time() -> float:
        file = Path(os.environ["SHOP_DONE"]).with_suffix(".later")
        return real_time() + (float(file.read_text()) if file.exists() else 0.0)

    time.time = shifted_time
    questions.ANSWER_TIMEOUT_S = float(os.environ.get("SHOP_ANSWER_TIMEOUT_S", "600"))
    SERVER.main()
