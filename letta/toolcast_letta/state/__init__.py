"""Files that persist between runs, signed with the user's key."""
