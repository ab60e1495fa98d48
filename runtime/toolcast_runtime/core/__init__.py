"""What serves a registry alone: definitions, access, calls, validation. Imports no other room."""
