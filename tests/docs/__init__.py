"""README.md and docs: what they show to be typed or copied is run, or parsed by the programs that it is for."""
