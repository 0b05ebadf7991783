"""``python -m jaxlab`` is the command ``jaxlab``."""

import sys

from jaxlab.cli import main

sys.exit(main())
