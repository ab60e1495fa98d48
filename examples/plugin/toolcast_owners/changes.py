"""What a change of the field means, for `toolcast diff`."""

from toolcast.changes.change import Grade, Grades
from toolcast.changes.family import Family, Rules
from toolcast.changes.field_rows import value

RULES = Rules()
MOVED = RULES.alone(
    "owners/moved",
    "Another team answers for the tool.",
    Grades(attachment=Grade.RISKY),
)
CHANGES = Family(rules=RULES, tool_rows=(value("owner", "the owner", MOVED),))
