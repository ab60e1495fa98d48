"""Reports of findings and of changes between versions, in several output formats."""
