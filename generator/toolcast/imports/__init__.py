"""Tools that exist already, taken in from lists in any form."""
