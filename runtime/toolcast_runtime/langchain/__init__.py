"""Langchain."""
