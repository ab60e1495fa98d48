"""The field `owner` of a tool spec, and the options of the target."""

from toolcast.extensions import Fields

FIELDS = Fields(
    tool={
        "owner": {
            "type": "object",
            "description": "The team that answers for the tool.",
            "properties": {
                "team": {"type": "string", "minLength": 1, "description": "Its name."},
                "channel": {"type": "string", "description": "Where to ask it."},
            },
            "required": ["team"],
            "additionalProperties": False,
        }
    },
    target_options={"owners": {"type": ["object", "null"]}},
)
