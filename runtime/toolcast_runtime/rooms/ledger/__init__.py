"""Records of the calls of persistent tools."""
