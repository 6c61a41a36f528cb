#!/usr/bin/env bash
# find_package_test.sh BUILD SERVER: installs the client from the folder BUILD to a temporary prefix, builds the project
# in find_package/ against it, and runs its program against SERVER.
set -euo pipefail
build=$1 server=$2 here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
server_pid=
trap '[ -z "$server_pid" ] || kill "$server_pid"; rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/prefix" --component client
if grep -r -e "$build" -e "${here%/tests/client}" "$work/prefix" --include='*.cmake' --include='*.h'; then
  echo "installed files name the folder that they were built in" >&2
  exit 1
fi
cmake -S "$here/find_package" -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix"
cmake --build "$work/build"

"$server" --listen=127.0.0.1:0 --device=cpu --port_file="$work/port" &
server_pid=$!
until [ -s "$work/port" ]; do
  kill -0 "$server_pid"
  sleep 0.05
done
"$work/build/app" "$(cat "$work/port")"
