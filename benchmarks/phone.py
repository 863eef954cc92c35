"""First visits to a page by a slow phone: Chromium, throttled through its developer tools' protocol."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

_CHROMIUM = "/usr/bin/chromium"
_PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 3, "is_mobile": True, "has_touch": True}
_SLOW_4G = {  # the preset of that name in Chromium's developer tools: bytes a second, milliseconds of each request
    "offline": False,
    "downloadThroughput": 1.6e6 / 8 * 0.9,
    "uploadThroughput": 750e3 / 8 * 0.9,
    "latency": 150 * 3.75,
}
_SLOWER = 4
_SETTLED_MILLISECONDS = 2000  # after everything has loaded; the page fetches the text of further pages from 3 s on
# Evaluated by the protocol itself, which the page's policy does not bind; Playwright's own way is `eval` in the page.
_LARGEST_PAINT = """
new Promise((found) => new PerformanceObserver((list) => found(list.getEntries().at(-1).startTime))
  .observe({ type: "largest-contentful-paint", buffered: true }))
"""


@dataclass(frozen=True)
class Visit:
    """``largest_paint`` in seconds after the visit began; ``kilobytes`` of 1,024 bytes, with the heads of answers."""

    largest_paint: float
    kilobytes: float
    requests: int


def visits(url: str, count: int) -> list[Visit]:
    """As many visits, each with an empty cache. None where Chromium or Playwright is missing."""
    if not Path(_CHROMIUM).exists():
        return []
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_CHROMIUM, args=["--no-sandbox"])
        try:
            return [_visit(browser, url) for _ in range(count)]
        finally:
            browser.close()


def _visit(browser: Any, url: str) -> Visit:
    context = browser.new_context(**_PHONE)
    page = context.new_page()
    protocol = context.new_cdp_session(page)
    asked: set[str] = set()
    lengths: list[float] = []

    def begun(event: Any) -> None:
        if not event["request"]["url"].startswith("data:"):
            asked.add(event["requestId"])

    def finished(event: Any) -> None:
        if event["requestId"] in asked:
            lengths.append(event["encodedDataLength"])

    protocol.on("Network.requestWillBeSent", begun)
    protocol.on("Network.loadingFinished", finished)
    protocol.send("Network.enable")
    protocol.send("Network.emulateNetworkConditions", _SLOW_4G)
    protocol.send("Emulation.setCPUThrottlingRate", {"rate": _SLOWER})
    page.goto(url, wait_until="load")
    page.wait_for_timeout(_SETTLED_MILLISECONDS)
    question = {"expression": _LARGEST_PAINT, "awaitPromise": True, "returnByValue": True}
    paint = protocol.send("Runtime.evaluate", question)["result"]["value"]
    context.close()
    return Visit(paint / 1000, sum(lengths) / 1024, len(lengths))
