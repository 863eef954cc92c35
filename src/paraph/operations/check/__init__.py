"""Does every part that the service stands on really work? One file per part; each part says so in a sentence."""
