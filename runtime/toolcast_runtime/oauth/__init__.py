"""An OAuth 2.1 resource server, which validates the tokens of an authorization server."""
