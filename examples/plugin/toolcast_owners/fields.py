"""The field `owner` of a tool spec, and the options of the target."""

from toolcast.extension_api import Fields

FIELDS = Fields(
    tool={
        "owner": {
            "type": "object",
            "description": "The team that owns the tool.",
            "properties": {
                "team": {"type": "string", "minLength": 1, "description": "Name."},
                "channel": {"type": "string", "description": "Chat channel."},
            },
            "required": ["team"],
            "additionalProperties": False,
            "called": "the owner",
            "change": {
                "any": {
                    "access": "risky",
                    "means": "Another team owns the tool.",
                }
            },
        }
    },
    target_options={
        "owners": {
            "type": ["object", "null"],
            "null_means": {},
            "change": {"set": {}, "unset": {"access": "risky"}},
        }
    },
)
