#!/usr/bin/env python3
"""What gedit check -f sarif prints is SARIF 2.1.0, and says what -f json says.

    sarif.py --gedit BUILD/gedit

The rules of the standard are those of the objects that gedit writes, by its sections; a property that stands nowhere here is
a fault. Files are those of testdata/, one whose names are of letters that JSON, URIs and messages escape.
"""
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
import urllib.parse

import program
from real_files import TESTDATA

GEDIT = None
ODD = '''"a{0}" = Relu("no [way](x)") {T: DT_FLOAT}
"100%, \\"so\\" } \\\\ ü" = Neg("a{0}:7") {T: DT_FLOAT}
c = NoOp(^gone)
'''
NAMES = "m.gtxt", "a b/50%,x:y.gtxt", "ü#?&.gtxt", "a:b.gtxt", "[1]{2}.gtxt"
URI_REFERENCE = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?(?://[A-Za-z0-9._~%!$&'()*+,;=:@-]*)?"
                           r"(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*")
LEVELS = {"none", "note", "warning", "error"}  # 3.27.10


class Sarif(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def has(self, value, required, optional=()):
        """An object with these properties, and no others; what they are by their types."""
        self.assertIsInstance(value, dict)
        kinds = {**required, **dict(optional)}
        self.assertLessEqual(set(required), set(value))
        self.assertLessEqual(set(value), set(kinds))
        for key, one in value.items():
            self.assertIsInstance(one, kinds[key], key)

    def message(self, value):
        """3.11: braces that hold no argument are doubled; no link to anywhere."""
        self.has(value, {"text": str})
        self.assertTrue(value["text"])
        plain = value["text"].replace("{{", "").replace("}}", "")
        self.assertNotRegex(plain, "[{}]")

    def location(self, value, path):
        """3.28 to 3.30, 3.33, 3.4."""
        self.has(value, {"physicalLocation": dict, "logicalLocations": list})
        physical = value["physicalLocation"]
        self.has(physical, {"artifactLocation": dict, "region": dict})
        self.has(physical["artifactLocation"], {"uri": str})
        uri = physical["artifactLocation"]["uri"]
        self.assertTrue(URI_REFERENCE.fullmatch(uri), uri)
        parsed = urllib.parse.urlparse(uri)
        self.assertEqual(parsed.scheme, "file" if os.path.isabs(path) else "")
        self.assertEqual(urllib.parse.unquote(parsed.path), path)
        self.has(physical["region"], {"startLine": int})
        self.assertGreaterEqual(physical["region"]["startLine"], 1)
        for logical in value["logicalLocations"]:
            self.has(logical, {"fullyQualifiedName": str})

    def result(self, value, rules, path):
        """3.27."""
        self.has(value, {"ruleId": str, "ruleIndex": int, "level": str, "message": dict, "locations": list,
                         "partialFingerprints": dict})
        self.assertEqual(rules[value["ruleIndex"]]["id"], value["ruleId"])
        self.assertIn(value["level"], LEVELS)
        self.message(value["message"])
        self.assertEqual(len(value["locations"]), 1)  # more than one: the fault is at all of them
        self.location(value["locations"][0], path)
        for fingerprint in value["partialFingerprints"].values():
            self.assertRegex(fingerprint, r"^[0-9a-f]+:\d+$")

    def judge(self, path):
        """How many faults it has, and that they are told as they should be."""
        def checked(form):
            done = subprocess.run([GEDIT, "check", path, "-f", form], cwd=self.folder, capture_output=True, check=False)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            return json.loads(done.stdout)

        log, told = checked("sarif"), checked("json")
        self.has(log, {"$schema": str, "version": str, "runs": list})  # 3.13
        self.assertEqual(log["version"], "2.1.0")
        self.assertEqual(len(log["runs"]), 1)
        run = log["runs"][0]
        self.has(run, {"tool": dict, "columnKind": str, "results": list})  # 3.14
        self.assertIn(run["columnKind"], ("utf16CodeUnits", "unicodeCodePoints"))
        self.has(run["tool"], {"driver": dict})  # 3.18
        self.has(run["tool"]["driver"], {"name": str, "version": str, "rules": list})  # 3.19
        rules = run["tool"]["driver"]["rules"]
        for rule in rules:
            self.has(rule, {"id": str}, {"shortDescription": dict})  # 3.49
            if "shortDescription" in rule:
                self.message(rule["shortDescription"])
        self.assertEqual(len({rule["id"] for rule in rules}), len(rules))
        for result in run["results"]:
            self.result(result, rules, path)
        self.assertEqual([(one["level"], one["ruleId"]) for one in run["results"]], [(one["level"], one["rule"]) for one in told])
        return len(told)

    def test_names(self):
        for name in (*NAMES, os.path.join(self.folder, "absolute.gtxt")):
            with self.subTest(name=name):
                path = os.path.join(self.folder, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(ODD)
                self.assertGreaterEqual(self.judge(name), 3)

    def test_real_files(self):
        judged = 0
        for name in sorted(os.listdir(TESTDATA)):
            path = os.path.join(TESTDATA, name)
            if name.endswith((".pb", ".pbtxt", ".meta")) and os.path.getsize(path) > 200:
                with self.subTest(name=name):
                    self.judge(path)
                    judged += 1
        self.assertGreater(judged, 5)

    def test_example(self):
        """The step of examples/ci: what all models have as one run, which is what code scanning takes of a tool."""
        if not shutil.which("jq") or not shutil.which("git"):
            self.skipTest("no jq or no git")
        os.makedirs(os.path.join(self.folder, "bin"))
        os.symlink(os.path.abspath(GEDIT), os.path.join(self.folder, "bin", "gedit-tf"))
        models = {"a.pbtxt": 'node { name: "x" op: "Relu" input: "gone" } node { name: "y" op: "Nope" input: "x" }',
                  "b c.pbtxt": 'node { name: "z" op: "Relu" input: "gone" }', "good.pbtxt": 'node { name: "n" op: "NoOp" }'}
        for name, text in models.items():
            with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        with open(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "examples/ci/code-scanning.yml"),
                  encoding="utf-8") as file:
            step = re.search(r"\n        run: \|\n((?: {10}.*\n)+)", file.read()).group(1)
        subprocess.run(["bash", "-e", "-c", "git init -q && git add . && " + step], cwd=self.folder, check=True, stderr=subprocess.DEVNULL,
                       env={**os.environ, "PATH": os.path.join(self.folder, "bin") + ":" + os.environ["PATH"]})
        with open(os.path.join(self.folder, "gedit.sarif"), encoding="utf-8") as file:
            log = json.load(file)
        self.assertEqual(len(log["runs"]), 1)
        found = {(one["ruleId"], one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]) for one in log["runs"][0]["results"]}
        self.assertLessEqual({("input", "a.pbtxt"), ("unknown-op", "a.pbtxt"), ("input", "b%20c.pbtxt")}, found)
        rules = [rule["id"] for rule in log["runs"][0]["tool"]["driver"]["rules"]]
        self.assertEqual(sorted(set(rules)), rules)
        self.assertLessEqual({rule for rule, _ in found}, set(rules))


if __name__ == "__main__":
    GEDIT = program.under_test()
    unittest.main()
