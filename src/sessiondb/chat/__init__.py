"""A host for conversations with a model behind an OpenAI-compatible endpoint."""
