"""Chromium, as all tests in it start it."""

import shutil
from typing import Any

# Chromium without windows, where installed: a page costs a third less processor time.
CHROMIUM = shutil.which("chromium-headless-shell") or "/usr/bin/chromium"
_WITHOUT = (
    "WebUIOmniboxPopup", "WebUIOmniboxAimPopup",  # pages of Chromium in each window: a second of processor time
    # the features that Playwright disables: this list replaces its own
    "AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable", "LensOverlay", "MediaRouter", "PaintHolding", "AimEnabled",
    "ThirdPartyStoragePartitioning", "AvoidCorsURLLoaderRestartOnRedirect", "OptimizationHints",
    "NetworkTimeServiceQuerying", "PreconnectToSearch",
)  # fmt: skip


def launch(playwright: Any, *options: str) -> Any:
    """Start the browser, which the caller closes."""
    isolated = "--site-per-process"  # as Chromium with windows has it
    at_once = "--disable-smooth-scrolling"  # on a busy machine, a key that scrolls smoothly is sometimes lost
    arguments = ["--no-sandbox", f"--disable-features={','.join(_WITHOUT)}", isolated, at_once, *options]
    return playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
