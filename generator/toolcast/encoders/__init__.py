"""Encoders: convert text of specs to the language of an output.

A target builds its views from `Code` values, and only these modules create `Code`: `python`
(literals, names, imports), `python_types` (types of JSON Schemas), `markdown` (also HTML),
`json_text`, `plain_text` (also shell arguments) and `yaml_block`. Templates print only `Code`.
"""
