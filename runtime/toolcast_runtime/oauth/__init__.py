"""An OAuth 2.1 resource server: who may call is said by the tokens of an authorization server."""
