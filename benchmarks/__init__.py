"""Measurements: every number in the documentation comes from here."""
