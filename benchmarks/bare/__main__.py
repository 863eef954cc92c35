"""Serves the bare views as ``paraph web`` serves the service: python -m benchmarks.bare web --port 8001"""

import os
import sys

if __name__ == "__main__":
    os.environ |= {"DJANGO_SETTINGS_MODULE": "benchmarks.bare.settings", "PARAPH_PORT": sys.argv[-1]}
    import django

    django.setup()
    from paraph.cli.web import run

    run()
