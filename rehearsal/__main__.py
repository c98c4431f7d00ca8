import sys

from rehearsal.cli import main

sys.exit(main())
