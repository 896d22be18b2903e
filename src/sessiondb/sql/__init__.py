"""The one SQL core: text with `:name` parameters and a handful of `{fragments}`; a backend fills in the fragments."""
