"""What generated packages run on: plain Python, without the generator.

Every module imports the standard library only, or says in its docstring which library it
needs and imports it when it is first used.
"""

__version__ = "0.2.0"
