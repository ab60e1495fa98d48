"""Creation of Letta's tables with the server's own Python and environment.

The wheel has no migrations, and the models lack the sequence of message numbers that a
migration creates.
"""

from __future__ import annotations

import importlib
import os
import sys

import sqlalchemy


def main() -> int:
    """Create all tables in the empty database of $LETTA_PG_URI."""
    # The import declares all tables and reads the environment to choose column types.
    models = importlib.import_module("letta.orm")
    engine = sqlalchemy.create_engine(os.environ["LETTA_PG_URI"])
    models.Base.metadata.create_all(engine)
    with engine.begin() as connection:
        for statement in (
            "create sequence message_seq_id",
            "alter table messages alter sequence_id set default nextval('message_seq_id')",
        ):
            connection.execute(sqlalchemy.text(statement))
    return 0


if __name__ == "__main__":
    sys.exit(main())
