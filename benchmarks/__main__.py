"""The figures that the README quotes: python -m benchmarks"""

import sys

from benchmarks import api, flow, page, seal

if __name__ == "__main__":
    sys.argv[1:] = ["--quick"]
    seal.main()
    print()
    sys.argv[1:] = []
    flow.main()
    print()
    api.main()
    print()
    page.main()
