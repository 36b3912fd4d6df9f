#!/bin/bash
# fetch_releases.sh OUT_DIR [VERSION..]: downloads each release's wheel with pip, dumps its ops, deletes the wheel. About 5 GB pass through
# and 12 minutes; 600 MB of disk at a time. Needs pyenv's Pythons 3.6, 3.9, 3.11 (PYTHONS), and pip of a newer one.
set -eu
here=$(cd "$(dirname "$0")" && pwd); out=$1; shift; mkdir -p "$out"
pythons=${PYTHONS:-$HOME/.pyenv/versions}
all="1.0.0 1.1.0 1.2.0 1.3.0 1.4.0 1.5.0 1.6.0 1.7.0 1.8.0 1.9.0 1.10.0 1.11.0 1.12.0 1.13.1 1.14.0 1.15.0 2.0.0 2.1.0 2.2.0 2.3.0 2.4.0
2.5.0 2.6.0 2.7.0 2.8.0 2.9.0 2.10.0 2.11.0 2.12.0 2.13.0 2.14.0 2.15.0 2.16.1 2.17.0 2.18.0 2.19.0 2.20.0 2.21.0"
platforms=; for p in 1 2010 _2_12 2014 _2_17 _2_27 _2_28; do platforms="$platforms --platform manylinux${p}_x86_64"; done
for v in ${*:-$all}; do
  case $v in 1.15.*) tag=37 python=3.7.16 package=tensorflow;; 1.*|2.0.*) tag=36 python=3.6.15 package=tensorflow;;
    2.[1-6].*) tag=36 python=3.6.15 package=tensorflow-cpu;; 2.21.*) tag=311 python=3.11.7 package=tensorflow-cpu;;
    *) tag=39 python=3.9.18 package=tensorflow-cpu;; esac
  abi=cp$tag; [ $tag -gt 37 ] || abi=${abi}m
  work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
  python3 -m pip download -q --no-cache-dir --no-deps --only-binary :all: $platforms --python-version $tag --implementation cp \
    --abi $abi -d "$work" "$package==$v"
  unzip -q -o "$work"/*.whl '*.so' '*.so.*' '*/core/public/*version.h' -d "$work/x" || true
  nice "$pythons/$python/bin/python" "$here/dump_release.py" "$work/x" "$out/$v"
  rm -rf "$work"
done
