"""The process in which the handlers of a toolset run, for `toolcast call`.

The generator imports nothing that it generated, and no handler; so it starts this, with what
is asked for as one JSON text. Needs `click`.
"""

from __future__ import annotations

import json
import sys

import click

from .call_once import UNUSABLE, CannotCall, Request
from .toolset_call import call_in_toolset


@click.command()
@click.argument("package")
@click.argument("request")
def main(package: str, request: str) -> None:
    """Makes the call of a REQUEST in JSON to the toolset of a generated PACKAGE."""
    try:
        code = call_in_toolset(package, Request(**json.loads(request)))
    except CannotCall as error:
        click.echo(f"error: {error}", err=True)
        code = UNUSABLE
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)


if __name__ == "__main__":
    main()
