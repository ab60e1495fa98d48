"""What git knows of a project: it is asked, and nothing that it names is run."""
