"""Commands that create projects, tools and templates."""
