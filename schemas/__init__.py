"""What travels and what is stored: the Arrow schemas, the enums, the wire models, the data files."""
