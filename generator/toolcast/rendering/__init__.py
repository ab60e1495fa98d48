"""Render views with templates, lint templates, and check the shape of the result."""
