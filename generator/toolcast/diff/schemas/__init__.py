"""Changes of `parameters` and `returns`, keyword by keyword, and whom they break."""
