"""python -m gedit_tf: the program itself."""
import os
import sys

from gedit_tf._run import program


def main() -> None:
    path = program()
    os.execv(path, ["gedit", *sys.argv[1:]])


if __name__ == "__main__":
    main()
