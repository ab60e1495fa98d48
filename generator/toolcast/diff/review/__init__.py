"""What a comparison comes to: what is accepted, what fails, and which version it asks for."""
