"""What agents call: tools with a JSON schema and a handler, free of any framework."""
