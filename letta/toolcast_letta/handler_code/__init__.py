"""Which calls in handlers' code send a message into an agent's loop."""
