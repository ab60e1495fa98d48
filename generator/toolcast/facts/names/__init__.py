"""Names of tools in texts: present ones, former ones, and those of none."""
