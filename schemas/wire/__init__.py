"""Lenient pydantic models of each protocol's bodies: only what is read is declared."""
