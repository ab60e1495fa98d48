"""The search for a value that one schema takes and another refuses."""
