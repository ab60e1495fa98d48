"""Proofs that what one schema takes another takes too."""
