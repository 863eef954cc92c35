"""``python -m paraph``, the same as ``paraph``."""

from paraph.cli import main

if __name__ == "__main__":
    main(prog_name="paraph")
