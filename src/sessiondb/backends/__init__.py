"""Where sessions are kept: one module or package per store."""
