"""Review of a comparison: acceptances, failing changes, and proposed versions."""
