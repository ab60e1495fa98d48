"""Write generated files to disk. This package handles paths and bytes, not tools."""
