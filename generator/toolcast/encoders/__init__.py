"""Encoders: the only ways in which text of a spec becomes text of an output.

A target builds its views from what these modules give: `python` (literals, names, imports),
`python_types` (types of JSON Schemas), `markdown` (HTML, too), `json_text`, `plain_text`
(shells, too) and `yaml_block`. Only they make `Code`, and a template prints nothing else.
"""
