#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens a page of `slurm-lens show --html` in headless Chromium, uses it and checks what it shows.

browser.py CHECK PAGE [SCREENSHOT]: CHECK is one of the functions `check_*` below. Chromium is
driven by chromedriver (WebDriver, plain HTTP on loopback). Whatever the check, the page must ask
for nothing from the network and say nothing on the console.
"""

import base64
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

FLAGS = ("--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run "
         "--disable-background-networking --disable-component-update --disable-sync "
         "--disable-dev-shm-usage --window-size=1400,900")
KEYS = {"down": "\ue015", "left": "\ue012", "right": "\ue014", "enter": "\ue007",
        "escape": "\ue00c", "end": "\ue010"}
TIMEOUT = 60


def wait_for(what, function):
    end = time.monotonic() + TIMEOUT
    while True:
        result = function()
        if result:
            return result
        assert time.monotonic() < end, f"not in time: {what}"
        time.sleep(0.05)


class Browser:
    def __init__(self, directory):
        log = open(f"{directory}/chromedriver.log", "w+", encoding="utf-8")
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=log,
                                       stderr=subprocess.STDOUT)

        def port():
            assert self.driver.poll() is None, "chromedriver did not start"
            text = pathlib.Path(log.name).read_text(encoding="utf-8")
            return text.rpartition("started successfully on port ")[2].partition(".")[0]
        self.base = f"http://127.0.0.1:{wait_for('chromedriver', lambda: port().isdigit() and port())}"
        options = {"args": [*FLAGS.split(), f"--user-data-dir={directory}/profile"]}
        session = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}}})
        self.base += f"/session/{session['sessionId']}"

    def ask(self, method, path, body=None):
        request = urllib.request.Request(
            self.base + path, method=method, headers={"Content-Type": "application/json"},
            data=None if body is None else json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
            return json.load(answer)["value"]

    def close(self):
        try:
            self.ask("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()

    def run(self, script, *arguments):
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def texts(self, selector):
        return self.run("return [...document.querySelectorAll(arguments[0])]"
                        ".map((one) => one.textContent)", selector)

    def element(self, selector, text=""):
        """The first that holds TEXT: only what is in sight is in the document."""
        return wait_for(f"{selector} {text}", lambda: self.run(
            "return [...document.querySelectorAll(arguments[0])]"
            ".find((one) => one.textContent.includes(arguments[1]))", selector, text))

    def click(self, selector, text=""):
        """Rows are made anew when the list is scrolled to one of them: then again."""
        def once():
            element = next(iter(self.element(selector, text).values()))
            try:
                self.ask("POST", f"/element/{element}/click", {})
                return True
            except urllib.error.HTTPError as error:
                if "stale element" not in error.read().decode():
                    raise
                return False
        wait_for(f"a click on {selector} {text}", once)

    def keys(self, text):
        actions = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        self.act({"type": "key", "id": "keyboard", "actions": actions})

    def act(self, *actions):
        self.ask("POST", "/actions", {"actions": list(actions)})

    def box(self, selector, text=""):
        return self.run("const b = arguments[0].getBoundingClientRect();"
                        "return [b.left, b.top, b.width, b.height]", self.element(selector, text))

    def drag(self, start, end):
        self.act({"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"},
                  "actions": [
                      {"type": "pointerMove", "x": int(start[0]), "y": int(start[1])},
                      {"type": "pointerDown", "button": 0},
                      {"type": "pointerMove", "x": int(end[0]), "y": int(end[1]), "duration": 50},
                      {"type": "pointerUp", "button": 0}]})

    def wheel(self, x, y, delta):
        self.act({"type": "wheel", "id": "wheel", "actions": [
            {"type": "scroll", "x": int(x), "y": int(y), "deltaX": 0, "deltaY": delta}]})

    def theme(self, name):
        self.ask("POST", "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {
            "features": [{"name": "prefers-color-scheme", "value": name}]}})

    def log(self, kind):
        return self.ask("POST", "/se/log", {"type": kind})

    def said(self):
        """On the console, by our page: Chromium's own, as that of a new tab, speak there too."""
        return [entry["message"] for entry in self.log("browser")
                if not entry["message"].startswith("chrome://")]


def bar(browser, text):
    """Left and width of the bar in the row that holds TEXT, as shares of its track."""
    return browser.run(
        "const row = arguments[0], bar = row.querySelector('.bar').getBoundingClientRect(),"
        " track = row.querySelector('.time').getBoundingClientRect();"
        "return [(bar.left - track.left) / track.width, bar.width / track.width]",
        browser.element(".row.span", text))


def panel(browser):
    return "\n".join(browser.texts("#panel tr"))


def check_attempts(browser):
    """The page of show_sample.py attempts."""
    assert browser.texts("h1") == ["Job 36 train, alice, partition gpu, cluster mini"]
    assert [text.split(",")[0] for text in browser.texts("#overview .text")] == [
        "attempt 0", "attempt 1", "attempt 2"]
    left, width = bar(browser, "slurm.phase.queued")
    assert left == 0 and abs(width - 0.1) < 0.01, (left, width)
    check_choosing(browser)
    check_zoom(browser)
    check_search(browser)
    check_folding(browser)
    check_themes(browser)


def check_choosing(browser):
    browser.click(".row.span", "slurm.job_attempt")
    assert "slurm.stateREQUEUED" in panel(browser), panel(browser)
    assert "purpose[goodput]" in panel(browser)
    assert "slurm.cluster.namemini" in panel(browser)  # of the resource
    # The same by keys alone.
    browser.keys(KEYS["down"])
    assert browser.texts("#panel h2") == ["slurm.phase.queued"]
    focus = browser.run("return document.activeElement.getAttribute('aria-activedescendant')")
    assert browser.run("return document.getElementById(arguments[0]).ariaSelected", focus) == "true"
    browser.keys(KEYS["left"])  # to its parent, then fold that
    browser.keys(KEYS["left"])
    assert browser.texts("#panel h2") == ["slurm.job_attempt"]
    shown = browser.texts(".row.span")
    assert not any("slurm.phase.queued" in text for text in shown[:2]), shown[:2]
    browser.keys(KEYS["right"])
    assert "slurm.phase.queued" in browser.texts(".row.span")[1]
    browser.keys(KEYS["enter"])
    assert browser.run("return document.activeElement.id") == "panel"
    browser.keys(KEYS["escape"])
    assert browser.run("return document.getElementById('panel').classList.contains('hidden')")
    assert browser.run("return document.activeElement.id") == "list"


def check_zoom(browser):
    whole = bar(browser, "slurm.phase.queued")
    x, y, width, height = browser.box(".row.axis .time")
    browser.wheel(x + 1, y + height / 2, -100)
    browser.wheel(x + 1, y + height / 2, -100)
    nearer = bar(browser, "slurm.phase.queued")
    assert nearer[1] > 1.4 * whole[1], (whole, nearer)
    browser.click("#all")
    assert abs(bar(browser, "slurm.phase.queued")[1] - whole[1]) < 0.01
    # Drag over the first fifth: it fills the track then.
    x, y, width, height = browser.box(".row.span .time")
    browser.drag((x + 1, y + 12), (x + width / 5, y + 12))
    dragged = bar(browser, "slurm.phase.queued")
    assert abs(dragged[1] - 0.5) < 0.03, dragged
    assert browser.run("return document.getElementById('panel').classList.contains('hidden')"), \
        "a drag is no click"
    browser.run("document.getElementById('list').focus()")
    browser.keys("-")
    assert bar(browser, "slurm.phase.queued")[1] < dragged[1]
    browser.keys("0+")
    assert bar(browser, "slurm.job_attempt")[1] > 1
    browser.keys("0")
    assert abs(bar(browser, "slurm.phase.queued")[1] - whole[1]) < 0.01


def check_search(browser):
    browser.run("document.getElementById('list').focus()")
    browser.keys("/nv.dl.rank=39")
    assert browser.texts("#found") == ["2 found"], browser.texts("#found")
    browser.keys(KEYS["enter"])
    assert browser.texts("#found") == ["1 of 2"]
    assert browser.texts("#panel h2") == ["slurm.task rank 39 n1"]
    browser.keys(KEYS["enter"])
    assert browser.texts("#found") == ["2 of 2"]
    browser.keys(KEYS["escape"])
    assert browser.texts("#found") == [""]


def check_folding(browser):
    browser.click("#overview button", "attempt 2")
    browser.element(".row.title", "attempt 2")
    browser.element(".row.more", "24 more slurm.task")
    before = browser.run("return document.getElementById('space').offsetHeight")
    browser.click(".row.more", "24 more slurm.task")
    after = browser.run("return document.getElementById('space').offsetHeight")
    assert after - before == 23 * 24, (before, after)


def check_themes(browser):
    colours = set()
    for theme in "light", "dark":
        browser.theme(theme)
        colours.add(browser.run("return getComputedStyle(document.body).backgroundColor"))
    assert len(colours) == 2, colours
    browser.click("#theme")
    assert browser.run("return document.documentElement.dataset.theme") == "light"


def check_hostile(browser):
    """The page of show_sample.py hostile: what names bring is text."""
    assert "<script>alert(1)</script>" in browser.texts("h1")[0]
    assert "\\u202E" in browser.texts("h1")[0] and "\u202e" not in browser.texts("h1")[0]
    assert browser.run("return document.scripts.length") == 2
    assert browser.run("return document.images.length") == 0
    browser.click(".row.span", "alert(1)")
    assert "<img src=x onerror=alert(1)>&amp;\"'" in panel(browser), panel(browser)
    # Even if it came into the document, no script but the page's own would run.
    browser.run("document.body.insertAdjacentHTML('beforeend',"
                " '<b id=\"evil\" onclick=\"window.hurt = 1\">x</b>');"
                " document.getElementById('evil').click()")
    assert browser.run("return window.hurt === undefined")
    blocked = browser.said()
    assert blocked and all("Content Security Policy" in message for message in blocked), blocked


def check_tasks(browser):
    """A page of very many spans: only what is in sight is in the document."""
    browser.click("#fold")
    assert browser.run("return document.querySelectorAll('.row').length") < 120
    browser.keys("")
    browser.run("document.getElementById('list').focus()")
    browser.keys(KEYS["end"])
    wait_for("the last", lambda: any("rank" in text for text in browser.texts("#panel h2")))
    assert browser.run("return document.getElementById('list').scrollTop") > 100000


def quiet(browser, page):
    """Neither a word on the console nor a request of the page's."""
    said = browser.said()
    assert not said, said
    requests = []
    for entry in browser.log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            url = message["params"]["request"]["url"]
            # Chromium opens pages of its own beside ours.
            if message["params"]["documentURL"].startswith("file:"):
                requests.append(url)
    assert requests == [page], requests


def main():
    check = sys.argv[1]
    page = pathlib.Path(sys.argv[2]).absolute().as_uri()
    # Chromium's processes may still write there when it is asked to end.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        browser = Browser(directory)
        try:
            browser.ask("POST", "/url", {"url": page})
            globals()[f"check_{check}"](browser)
            if len(sys.argv) > 3:
                pathlib.Path(sys.argv[3]).write_bytes(
                    base64.b64decode(browser.ask("GET", "/screenshot")))
            quiet(browser, page)
        finally:
            browser.close()


if __name__ == "__main__":
    main()
