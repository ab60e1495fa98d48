"""What a tool is: `Tool` and its `Action`s, read from definitions or given by a provider."""
