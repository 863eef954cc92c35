"""The sandboxed processes that draw logos anew. Apart from those that read uploads, which need no Typst."""

import io
import os
from typing import Any

from PIL import ExifTags, Image

from paraph.pdf.untrusted.jobs import logo_job
from paraph.pdf.untrusted.jobs.serving import serve
from paraph.pdf.untrusted.jobs.warm_up import look_up_encodings
from paraph.pdf.untrusted.sandbox_wire import JobAnswer


def main() -> None:
    Image.MAX_IMAGE_PIXELS = None  # the job has a bound, and a sentence
    serve(_do, _warm_up)


def _do(request: dict[str, Any], descriptors: list[int]) -> JobAnswer:  # noqa: ARG001  there is one job
    with os.fdopen(descriptors[0], "rb") as file:
        file.seek(0)
        return logo_job.redraw(file.read())


def _warm_up() -> None:
    """SVG has to wait: Typst starts threads, and a process that is confined must have a single one."""
    look_up_encodings()
    turned = Image.Exif()
    turned[ExifTags.Base.Orientation] = 6
    for form in ("PNG", "JPEG"):
        file = io.BytesIO()
        Image.new("RGB", (2, 2)).save(file, form, exif=turned)
        logo_job.redraw(file.getvalue())
    logo_job.compiler()


if __name__ == "__main__":
    main()
