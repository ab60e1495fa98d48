"""The routes of the fake, a module a resource."""
