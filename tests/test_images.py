"""Containers are made of exactly the images that were looked at (requirements/README.md)."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PINNED = re.compile(r"[a-z0-9./_-]+:[0-9][A-Za-z0-9._-]*@sha256:[0-9a-f]{64}")


def test_images_of_others_are_pinned_by_version_and_digest() -> None:
    stages = re.findall(r"^FROM (\S+)(?: AS (\S+))?$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    own = {name for _, name in stages}
    images = [image for image, _ in stages if image not in own]
    images += re.findall(r"^\s*image: (\S+)$", (ROOT / "compose.yaml").read_text(), re.MULTILINE)
    assert len(images) == 3
    assert all(PINNED.fullmatch(image) for image in images)
