"""Benchmarks; run by `make bench`, not by pytest."""
