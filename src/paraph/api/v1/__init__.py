"""Client API, version 1 (rule 4). :mod:`door` is the one way in; one file per resource behind it."""
