#!/usr/bin/env python3
"""The HTML pages of `gedit draw` in a real browser, and its SVG through a real Graphviz.

    pages.py --gedit GEDIT [--screenshots FOLDER]

Headless Chromium is driven through chromedriver (WebDriver's JSON over HTTP, so no package is needed). Of each page: it
shows the boxes that it should, a click opens a scope and another closes it, a search finds a node, an address leads to
one, nothing is asked of the network, and the console stays empty.
"""
import argparse
import base64
import contextlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import xml.dom.minidom

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
SKIPPED = 77
ENTER, ESCAPE, DOWN = "\ue007", "\ue00c", "\ue015"
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # W3C WebDriver, section 11


class DoesNotStart(Exception):
    """The browser has no window to give, whatever page it is for."""


class Browser:
    """One session of one browser window."""

    def __init__(self, chromium, chromedriver):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.driver = subprocess.Popen([chromedriver, f"--port={self.port}"], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
        self.base = ""
        try:
            self.start(chromium)
        except AssertionError as error:
            self.close()
            raise DoesNotStart(" ".join(str(error).split())) from error
        self.call("POST", "/timeouts", {"script": 120000, "pageLoad": 120000})

    def start(self, chromium):
        self.wait_for(lambda: self.alive(), 30, "chromedriver answers")  # Ubuntu's package only points to a snap
        options = {"binary": chromium, "args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                                                "--window-size=1400,900"]}
        session = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}}})
        self.base = "/session/" + session["sessionId"]

    def close(self):
        if self.base:
            self.call("DELETE", "")
        self.driver.terminate()
        self.driver.wait()

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{self.base}{path}", data, method=method,
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=180) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {json.load(error)['value']['message']}") from error

    def alive(self):
        try:
            return self.call("GET", "/status")["ready"]
        except OSError:
            return False

    @staticmethod
    def wait_for(holds, seconds, what):
        end = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < end, f"in {seconds} s: {what}"
            time.sleep(0.05)

    def open(self, path, address=""):
        # A page apart first: the same file with another address would not be opened anew.
        self.call("POST", "/url", {"url": "about:blank"})
        self.call("POST", "/url", {"url": path.as_uri() + address})
        self.wait_for(lambda: self.run("return window.gedit !== undefined"), 60, f"{path.name} opens")

    def run(self, script, *arguments):
        return self.call("POST", "/execute/sync", {"script": script, "args": arguments})

    def find(self, selector):
        return self.call("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def click(self, label):
        """Clicks a box on its first line, which no other box lies over."""
        box = self.run("return [...document.querySelectorAll('.box')].find(b => b.getAttribute('aria-label') === arguments[0])"
                       ".querySelector('text.title')", label)
        self.call("POST", f"/element/{box[ELEMENT]}/click", {})

    def type(self, selector, text):
        self.call("POST", f"/element/{self.find(selector)}/value", {"text": text})

    def labels(self):
        return self.run("return [...document.querySelectorAll('.box')].map(b => b.getAttribute('aria-label'))")

    def selected(self):
        return self.run("const b = document.querySelector('.box.selected'); return b && b.getAttribute('aria-label')")

    def panel(self):
        return self.run("return document.querySelector('aside').textContent")

    def complaints(self):
        return [entry["message"] for entry in self.call("POST", "/se/log", {"type": "browser"})]

    def requests(self):
        """Addresses that the browser was asked for since the last call."""
        events = [json.loads(entry["message"])["message"] for entry in self.call("POST", "/se/log", {"type": "performance"})]
        return [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]

    def screenshot(self, path):
        path.write_bytes(base64.b64decode(self.call("GET", "/screenshot")))


def expect(what, have, wanted):
    assert have == wanted, f"{what}: {have!r}, not {wanted!r}"


class Pages:
    def __init__(self, gedit, browser, folder, screenshots):
        self.gedit, self.browser, self.folder, self.screenshots = gedit, browser, folder, screenshots

    def draw(self, source, name, *options):
        out = self.folder / (name + ".html")
        subprocess.run([self.gedit, "draw", str(source), "-o", str(out), *options], check=True, cwd=self.folder)
        return out

    def listing(self, name, *lines):
        path = self.folder / (name + ".gtxt")
        path.write_text("\n".join(lines) + "\n")
        return path

    def finish(self, name):
        if self.screenshots:
            self.browser.screenshot(self.screenshots / (name + ".png"))
        expect(f"console of {name}", self.browser.complaints(), [])
        away = [url for url in self.browser.requests() if not url.startswith(("file:", "data:", "about:", "blob:"))]
        expect(f"requests of {name}", away, [])

    def training_graph(self):
        browser = self.browser
        browser.open(self.draw(REPOSITORY / "testdata/dqn/dqn.meta", "dqn"))
        closed = browser.labels()
        for label in ("scope online", "scope gradients", "Placeholder state", "Mean loss"):
            assert label in closed, f"{label} is not among {closed}"
        browser.click("scope online")
        opened = browser.labels()
        assert "scope online/hidden" in opened and len(opened) > len(closed), opened
        expect("selected", browser.selected(), "scope online")
        browser.click("scope online")
        expect("closed again", browser.labels(), closed)
        browser.type("header input", "online/hidden/MatMul")
        found = browser.run("return document.querySelector('header li').textContent")
        assert found.startswith("online/hidden/MatMul"), found
        browser.type("header input", ENTER)
        expect("found", browser.selected(), "MatMul online/hidden/MatMul")
        assert "transpose_a" in browser.panel() and "online/hidden/w" in browser.panel(), browser.panel()
        expect("address", browser.run("return location.hash"), "#online/hidden/MatMul")
        self.finish("dqn")
        browser.open(self.folder / "dqn.html", "#online/hidden/BiasAdd")
        expect("by its address", browser.selected(), "BiasAdd online/hidden/BiasAdd")
        browser.type("body", ESCAPE)
        expect("nothing", browser.selected(), None)
        browser.type("header input", "random_uniform/shape")
        browser.type("header input", ENTER)
        assert browser.selected().startswith("VariableV2 "), "an initializer is shown by its variable"
        self.finish("dqn-address")

    def functions(self):
        browser = self.browser
        browser.open(self.draw(REPOSITORY / "testdata/functions/functional-if-ops.pbtxt", "functions"))
        pages = browser.run("return [...document.querySelectorAll('header option')].map(o => o.textContent)")
        assert "cond_true" in pages and "cond_false" in pages, pages
        browser.run("document.querySelector('header select').value = arguments[0];"
                    "document.querySelector('header select').dispatchEvent(new Event('change'))",
                    str(pages.index("cond_true")))
        assert "argument cond_true" in browser.labels(), browser.labels()
        browser.open(self.folder / "functions.html", "#cond_false//")
        assert "argument cond_false" in browser.labels(), browser.labels()
        # From the node that calls it, and back.
        browser.open(self.folder / "functions.html")
        main = browser.labels()
        call = browser.run("return [...document.querySelectorAll('[data-page]')].find(t => t.textContent.includes('cond_true'))")
        browser.call("POST", f"/element/{call[ELEMENT]}/click", {})
        assert "argument cond_true" in browser.labels(), browser.labels()
        expect("address", browser.run("return location.hash"), "#cond_true//")
        browser.call("POST", "/back", {})
        browser.wait_for(lambda: browser.labels() == main, 10, "back leads to the main graph")
        self.finish("functions")

    def chain(self, count):
        lines, last = ["x = Placeholder() {dtype: DT_FLOAT}"], "x"
        for i in range(count):
            lines += [f"block_{i}/a = Relu({last}) {{T: DT_FLOAT}}", f"block_{i}/b = Neg(block_{i}/a) {{T: DT_FLOAT}}"]
            last = f"block_{i}/b"
        return self.draw(self.listing(f"blocks-{count}", *lines), f"blocks-{count}")

    def blocks(self):
        browser = self.browser
        browser.open(self.chain(20))
        expect("folded", browser.labels(), ["scope block_0", "Placeholder x"])
        expect("count", browser.run("return document.querySelector('.badge-text').textContent"), "\u00d720")
        browser.click("scope block_0")
        expect("one of them is shown", len(browser.labels()), 4)
        browser.type("header input", "block_7/b")
        browser.type("header input", ENTER)
        expect("another is shown apart", browser.selected(), "Neg block_7/b")
        browser.run("gedit.select(gedit.find(gedit.sheet, 'block_7/'))")
        browser.run("[...document.querySelectorAll('aside button')].find(b => b.textContent === 'fold them').click()")
        expect("folded again", browser.run("return document.querySelectorAll('.badge-text').length"), 1)
        self.finish("blocks")
        # Of very many one stands for all, whichever is looked for.
        browser.open(self.chain(30000), "#block_21000/b")
        expect("its counterpart", browser.selected(), "Neg block_0/b")
        assert "block_21000" in browser.panel(), browser.panel()
        assert len(browser.labels()) < 10, len(browser.labels())
        self.finish("many-blocks")

    def hostile(self):
        browser = self.browser
        evil = r'"</script><img src=x onerror=\"window.harmed=1\"><script>window.harmed=1</script>"'
        browser.open(self.draw(self.listing("hostile", evil + " = NoOp()", "after = NoOp()"),
                               "hostile"))
        browser.type("header input", "onerror")
        browser.type("header input", ENTER)
        assert "onerror" in browser.panel(), browser.panel()
        expect("harm", browser.run("return window.harmed === undefined"), True)
        self.finish("hostile")

    def many(self):
        """Many in one scope, and a chain that is long: groups that open."""
        browser = self.browser
        lines = ["n0 = Placeholder() {dtype: DT_FLOAT}"]
        lines += [f"n{i} = Relu(n{i - 1}) {{T: DT_FLOAT}}" for i in range(1, 20000)]
        browser.open(self.draw(self.listing("many", *lines), "many"))
        labels = browser.labels()
        assert 1 < len(labels) <= 150, len(labels)
        browser.type("header input", "n12345")
        browser.type("header input", ENTER)
        expect("found", browser.selected(), "Relu n12345")
        assert len(browser.labels()) < 600, len(browser.labels())
        browser.open(self.draw(self.folder / "many.gtxt", "many-open", "--depth", "0"))
        assert len(browser.labels()) < 2000, len(browser.labels())
        self.finish("many")

    def keyboard(self):
        browser = self.browser
        browser.open(self.folder / "dqn.html")
        browser.type("body", "/")
        expect("focus", browser.run("return document.activeElement.type"), "search")
        browser.run("const b = document.querySelector('.box.scope'); b.focus(); window.before = document.querySelectorAll('.box').length;")
        browser.run("document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', bubbles: true}))")
        assert browser.run("return document.querySelectorAll('.box').length > window.before"), "Enter opens a scope"
        self.finish("keyboard")


def svg(gedit):
    """Graphviz takes what we write; the result is XML with a name in it for each box."""
    if shutil.which("dot") is None:
        print("skipped: dot (Debian: graphviz) is not there")
        return False
    for source in ("dqn/dqn.meta", "functions/functional-while-ops.pbtxt", "half_plus_two", "samplenet.pb"):
        for depth in "0", "1", "2":
            drawn = subprocess.run([gedit, "draw", str(REPOSITORY / "testdata" / source), "-f", "svg", "-o", "-", "--depth", depth],
                                   check=True, capture_output=True)
            page = xml.dom.minidom.parseString(drawn.stdout)
            assert page.documentElement.tagName == "svg", source
            # What a screen of 1,920 pixels does not show is told, and nothing else.
            points = float(page.documentElement.getAttribute("width").removesuffix("pt"))
            told = drawn.stderr.decode().splitlines()
            wide = [line for line in told if line.startswith("note: the picture is ")]
            assert told == wide and len(wide) == (points > 1440), (source, points, told)
            text = subprocess.run([gedit, "draw", str(REPOSITORY / "testdata" / source), "-f", "dot", "-o", "-", "--depth", depth],
                                  check=True, capture_output=True, text=True).stdout
            groups = [g for g in page.getElementsByTagName("g") if g.getAttribute("class") == "node"]
            wanted = text.count(" [label=<") + text.count("shape=plaintext")
            assert len(groups) == wanted, (source, depth, len(groups), wanted)
    return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gedit", required=True)
    parser.add_argument("--screenshots", type=pathlib.Path)
    options = parser.parse_args()
    gedit = os.path.abspath(options.gedit)
    drawn = svg(gedit)
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    chromedriver = shutil.which("chromedriver")
    if chromium is None or chromedriver is None:
        print("skipped: chromium and chromedriver (Debian: chromium, chromium-driver) are not there")
        return 0 if drawn else SKIPPED
    with tempfile.TemporaryDirectory(prefix="gedit-pages-") as folder:
        try:
            browser = Browser(chromium, chromedriver)
        except DoesNotStart as error:  # in a container without /dev/shm, say
            print(f"skipped: {chromium} does not start here: {error}")
            return 0 if drawn else SKIPPED
        with contextlib.closing(browser):
            pages = Pages(gedit, browser, pathlib.Path(folder), options.screenshots)
            for check in (pages.training_graph, pages.functions, pages.blocks, pages.hostile, pages.many, pages.keyboard):
                check()
    print("pages hold" if drawn else "pages hold; SVG was skipped")
    return 0


if __name__ == "__main__":
    sys.exit(main())
