"""The report: one self-contained HTML file."""
