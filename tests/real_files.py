"""The real files that laws and sweeps go over: testdata/, and where GEDIT_SHARED names a folder of more, its corpus/ and oracle/.

`scripts/test --all` names ../shared where that is there.
"""
import os

REPOSITORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TESTDATA = os.path.join(REPOSITORY, "testdata")
SKIPPED = 77  # the exit status of a test that needs what is not there


def shared(name):
    """The folder `name` of GEDIT_SHARED; nothing, and a line that says so, where it is not there."""
    folder = os.path.join(os.path.realpath(os.environ["GEDIT_SHARED"]), name) if os.environ.get("GEDIT_SHARED") else None
    if folder and os.path.isdir(folder):
        return folder
    print("skipped: more real files; GEDIT_SHARED names no folder with %s/" % name)
    return None


def folders(*names):
    """testdata/, and of these folders of GEDIT_SHARED the ones that are there."""
    return [TESTDATA, *filter(None, map(shared, names))]
