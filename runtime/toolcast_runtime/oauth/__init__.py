"""OAuth 2.1 resource server for the endpoints of a toolset."""
