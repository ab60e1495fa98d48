"""What commands print: findings, and changes of specs, each in several formats."""
