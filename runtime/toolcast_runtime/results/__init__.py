"""Shape the results of calls: select properties and limit the size."""
