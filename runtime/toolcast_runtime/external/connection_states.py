"""States of a connection to an external server, and the events that change them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum


class State(Enum):
    """State of a connection."""

    NEW = "new"
    """No attempt to connect has ended yet, or the connection was closed."""
    READY = "ready"
    """A session is open."""
    LOST = "lost"
    """There is no session. The next attempt follows after a delay; calls fail at once."""
    RESTARTING = "restarting"
    """A new session is being opened without a delay; calls wait for it."""


class Event(Enum):
    """Event that may change the state of a connection."""

    CONNECTED = "connected"
    """A session was opened."""
    FAILED = "failed"
    """An attempt to connect failed, or the server ended the connection."""
    REFUSED = "refused"
    """A request got an error, also after the headers were resolved again for HTTP 401."""
    SESSION_LOST = "session lost"
    """The server no longer knows the session, for example HTTP 404 to a session id."""
    HANGING = "hanging"
    """Calls timed out, and a ping got no answer."""
    CLOSED = "closed"
    """This program closed the connection."""


TRANSITIONS: Mapping[tuple[State, Event], State] = {
    (State.NEW, Event.CONNECTED): State.READY,
    (State.NEW, Event.FAILED): State.LOST,
    (State.READY, Event.REFUSED): State.READY,
    (State.READY, Event.SESSION_LOST): State.RESTARTING,
    (State.READY, Event.HANGING): State.RESTARTING,
    (State.READY, Event.FAILED): State.LOST,
    (State.RESTARTING, Event.CONNECTED): State.READY,
    (State.RESTARTING, Event.FAILED): State.LOST,
    (State.LOST, Event.CONNECTED): State.READY,
    (State.LOST, Event.FAILED): State.LOST,
    **{(state, Event.CLOSED): State.NEW for state in State},
}
"""Next state by state and event; other pairs leave the state unchanged."""
