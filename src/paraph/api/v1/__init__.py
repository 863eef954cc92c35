"""Client API, version 1 (rule 4). :mod:`endpoint` is the one way in; one folder or file per resource behind it."""
