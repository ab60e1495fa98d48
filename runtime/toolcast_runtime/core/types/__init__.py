"""What the types of a generated tool are made of, beside what `typing` has.

`ReadOnly` and `TypedDict` are those of typing_extensions: the first is new in Python 3.13,
and before 3.12 pydantic reads no other TypedDict.
"""
