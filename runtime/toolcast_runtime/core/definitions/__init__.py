"""Tools and their actions, loaded from definitions or provided by a `ToolProvider`."""
