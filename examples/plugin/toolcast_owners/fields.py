"""The field `owner` of a tool spec, and the options of the target."""

from toolcast.extension_api import Fields

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
            "called": "the owner",
            "change": {
                "any": {
                    "access": "risky",
                    "means": "Another team answers for the tool.",
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
