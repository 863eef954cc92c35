"""Files under deploy/: what operators copy is judged by the programs that read it."""
