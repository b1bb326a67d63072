"""Formats: a module each. They read files into launches and write edits back."""
