"""What only some toolsets need, each room by itself, loaded where a toolset asks for it."""
