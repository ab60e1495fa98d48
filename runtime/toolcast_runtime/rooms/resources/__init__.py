"""Resources and MCP prompts: their definitions, what they give, content behind links."""
