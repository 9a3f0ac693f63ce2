"""Faults on purpose: runs that are killed at a named point or at any moment, and readers that never stop."""
