"""`python -m reviewer`: the same as the `reviewer` command."""

import sys

from reviewer.main import main

sys.exit(main())
