"""Creates Letta's tables; runs under the server's own Python, with its environment.

The wheel has no migrations, and the models leave out one thing that they make: the numbers
of messages.
"""

from __future__ import annotations

import importlib
import os
import sys

import sqlalchemy


def main() -> int:
    """Creates everything in the empty database of $LETTA_PG_URI."""
    # Importing the package declares every table; it reads the environment to choose types.
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
