"""One command each: arguments in, pipeline built and run. Nothing that Beam runs is defined here."""
