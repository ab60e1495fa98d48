"""Two schemas side by side, keyword by keyword: what differs."""
