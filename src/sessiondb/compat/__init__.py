"""Other programs' import names, so that code written for them runs unchanged."""
