"""The core of the runtime: definitions, access, calls and validation.

It imports no optional part; see `optional`.
"""
