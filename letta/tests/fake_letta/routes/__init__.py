"""Routes of the fake server, one module per resource."""
