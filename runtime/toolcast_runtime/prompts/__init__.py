"""Prompts."""
