"""Inputs that nobody wrote: variants of real files, and what a coverage-guided fuzzer comes to."""
