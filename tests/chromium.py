"""Chromium, as all tests in it start it."""

from typing import Any

CHROMIUM = "/usr/bin/chromium"
_WITHOUT = (
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup"),  # pages of its own for each window, a second of processor time
    # as Playwright has it, whose list this one replaces
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades"),
    *("HttpsFirstBalancedModeAutoEnable", "LensOverlay", "MediaRouter", "PaintHolding", "AimEnabled"),
    *("ThirdPartyStoragePartitioning", "AvoidCorsURLLoaderRestartOnRedirect", "OptimizationHints"),
    *("NetworkTimeServiceQuerying", "PreconnectToSearch"),
)


def launch(playwright: Any, *options: str) -> Any:
    """The browser, which the caller closes."""
    arguments = ["--no-sandbox", f"--disable-features={','.join(_WITHOUT)}", *options]
    return playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
