"""The pages for people in a real browser: report.html of a day, the page of many days, and pairs side by side.

    python3 tests/browser.py target/release/dupsieve [--screenshots DIR]

Makes the days of the sample and opens the pages in Chromium without a window: light and dark, as wide as a desk and as a telephone, and printed.
A page must ask the network for nothing, say nothing on the console, fit its width, have letters that stand out from their ground (a contrast
of 4.5, as WCAG 2 asks), and show the figures of report.json. Exits with 1 if one does not, naming what, and where there is no Chromium or no
chromedriver. Needs the package selenium.
"""

import argparse
import base64
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

HOME = pathlib.Path(__file__).resolve().parent.parent
WIDTHS = {"desk": 1280, "telephone": 360}
DAYS = ["2026-11-18", "2026-11-19", "2026-11-20"]

# The texts whose letters stand out too little from what is behind them: [contrast, text].
FAINT = """
const channel = c => { c /= 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
const parse = text => { const n = text.match(/[\\d.]+/g).map(Number); return n.length === 3 ? [...n, 1] : n; };
const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const ground = node => {
  for (; node; node = node.parentElement) {
    const colour = parse(getComputedStyle(node).backgroundColor);
    if (colour[3] > 0) return colour;
  }
  return matchMedia('(prefers-color-scheme: dark)').matches ? [18, 18, 18, 1] : [255, 255, 255, 1];
};
const faint = [];
const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walk.nextNode()) {
  const node = walk.currentNode.parentElement, text = walk.currentNode.textContent.trim();
  if (!text || !node.getClientRects().length || ['STYLE', 'TITLE'].includes(node.tagName)) continue;
  const style = getComputedStyle(node), svg = node.ownerSVGElement;
  const ink = parse(svg ? style.fill : style.color), behind = ground(node);
  const [high, low] = [light(ink), light(behind)].sort((a, b) => b - a);
  const contrast = (high + 0.05) / (low + 0.05);
  if (contrast < 4.5) faint.push([Math.round(contrast * 100) / 100, text.slice(0, 40)]);
}
return faint;
"""


def browser(driver):
    options = webdriver.ChromeOptions()
    for flag in ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=1"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=Service(driver))


def make_pages(program, home):
    """Runs the days of the sample. Returns the pages by their names, and the figures of the last day."""
    config = (HOME / "configs" / "local.toml").read_text()
    config = config.replace('"bench-data/', f'"{HOME}/bench-data/').replace('"out/', f'"{home}/out/')
    (home / "local.toml").write_text(config)
    subprocess.run([program, "-q", "run", home / "local.toml"], check=True, stdout=subprocess.DEVNULL)
    days = [home / "out" / day for day in DAYS]
    subprocess.run([program, "-q", "report", *days, "--output", home / "days.html"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([program, "-q", "sample", days[-1], "--output", home / "pairs.html"], check=True, stdout=subprocess.DEVNULL)
    last = days[-1] / "dedup"
    return {"day": last / "report.html", "days": home / "days.html", "pairs": home / "pairs.html"}, json.loads((last / "report.json").read_text())


def look(chrome, page, width, scheme):
    """What is wrong with the page, as wide as that and in that colour scheme."""
    chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    chrome.get(page.as_uri())
    wrong = [f"the console says {entry['message']}" for entry in chrome.get_log("browser")]
    asked = chrome.execute_script("return performance.getEntriesByType('resource').map(it => it.name)")
    wrong += [f"asks for {name}" for name in asked]
    wide = chrome.execute_script("return document.documentElement.scrollWidth")
    if wide > width:
        wrong.append(f"is {wide} pixels wide")
    wrong += [f"has a contrast of {contrast} in `{text}`" for contrast, text in chrome.execute_script(FAINT)]
    return wrong


def grounds(chrome):
    return chrome.execute_script("return getComputedStyle(document.body).backgroundColor + getComputedStyle(document.documentElement).backgroundColor")


def looks(chrome, name, page, screenshots):
    wrong, seen = [], set()
    for place, width in WIDTHS.items():
        for scheme in ("light", "dark"):
            wrong += [f"{name}, {place}, {scheme}: {what}" for what in look(chrome, page, width, scheme)]
            seen.add((scheme, grounds(chrome)))
            if screenshots:
                shot = chrome.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True})
                (screenshots / f"{name}-{place}-{scheme}.png").write_bytes(base64.b64decode(shot["data"]))
    if len({ground for _, ground in seen}) != 2:
        wrong.append(f"{name}: light and dark have the grounds {sorted(seen)}")
    printed = base64.b64decode(chrome.execute_cdp_cmd("Page.printToPDF", {})["data"])
    if not printed.startswith(b"%PDF"):
        wrong.append(f"{name}: cannot be printed")
    return wrong


def lacking(chrome, page, figures):
    """The figures of the report that the page does not show."""
    chrome.get(page.as_uri())
    text = chrome.execute_script("return document.body.innerText").replace("\u202f", "").replace(",", "")
    return [f"day: does not show {name} {value}" for name, value in figures.items() if str(value) not in text.split()]


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("program", type=pathlib.Path)
    words.add_argument("--screenshots", type=pathlib.Path)
    asked = words.parse_args()
    driver, chromium = shutil.which("chromedriver"), shutil.which("chromium") or shutil.which("google-chrome")
    if not driver or not chromium:
        print("NOT CHECKED: there is no Chromium with chromedriver here, so nobody looked at the pages")
        return 1
    with tempfile.TemporaryDirectory() as home:
        pages, report = make_pages(asked.program.resolve(), pathlib.Path(home))
        chrome = browser(driver)
        try:
            wrong = [what for name, page in pages.items() for what in looks(chrome, name, page, asked.screenshots)]
            figures = {name: report["outcome"][name] for name in ("kept", "dropped", "matches")}
            wrong += lacking(chrome, pages["day"], figures)
        finally:
            chrome.quit()
    for what in wrong:
        print(what, file=sys.stderr)
    print(json.dumps({"pages": len(pages), "looks": len(pages) * len(WIDTHS) * 2, "wrong": len(wrong)}))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
