"""The public names of ``tf``: which there are, where each is found, and what to write for those that are not here."""
