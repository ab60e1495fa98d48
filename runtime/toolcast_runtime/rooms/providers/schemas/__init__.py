"""Schemas of specs in the dialects of model providers, and the way back."""
