"""`python -m jitgraph` is the command `jitgraph`."""

import sys

from jitgraph.cli import main

sys.exit(main())
