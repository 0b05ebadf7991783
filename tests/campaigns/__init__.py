"""Long campaigns against the package, each with a command of its own under scripts/."""
