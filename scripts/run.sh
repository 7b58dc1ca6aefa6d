#!/bin/sh
# Runs a script with the pinned Node.js, after installing missing dependencies:
#   sh scripts/run.sh src/main.ts …
# The shell replaces itself with that process (exec), so that no parent process uses memory or intercepts signals.
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd) || exit

# npm puts node_modules/.bin first in PATH, where an interrupted installation may have left an incomplete Node.js. The
# Node.js that runs npm is complete.
case "$1 ${2-}" in
  src/main.ts* | "src/cli/cli.ts serve") console=--console ;;
  *) console= ;;
esac
node=$("${npm_node_execpath:-node}" "$root/scripts/bootstrap.mjs" $console) || exit
PATH="$root/node_modules/.bin:$PATH"
# The compile cache of Node.js (documented under "Module compile cache") keeps the code without types: the server starts
# in half the time and uses 28 MB less memory.
NODE_COMPILE_CACHE="${NODE_COMPILE_CACHE:-$root/node_modules/.cache/node}"
export PATH NODE_COMPILE_CACHE

if [ -f "$root/$1" ]; then
  script="$root/$1"
  shift
  set -- "$script" "$@"
  # The server and its commands read .env; variables of the environment take precedence over it. Tests do not read it.
  case $script in
    "$root"/src/*)
      [ ! -f "$root/.env" ] || set -- "--env-file=$root/.env" "$@"
      # Bytes of uploads then count towards the limit of the heap. Otherwise every 32 MB of them start a garbage
      # collection of the whole heap, and an upload of 100 MB is half as fast.
      set -- --external-memory-accounted-in-global-limit "$@"
      ;;
  esac
fi
exec "$node" "$@"
