"""The program under test, for tests of unittest that run it:

    if __name__ == "__main__":
        GEDIT = program.under_test()
        unittest.main()
"""
import argparse
import os
import sys


def under_test():
    """The path that --gedit gives; the other arguments are left to unittest: -v, -k WORD, Class.test_name."""
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__, add_help=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gedit", required=True, help="the program under test")
    arguments, rest = parser.parse_known_args()
    sys.argv[1:] = rest
    return os.path.abspath(arguments.gedit)
