#!/usr/bin/env bash
# demo.sh TABI - what tabi can say about a robot, shown on the humanoid that ships with it.
set -euo pipefail
cd "$(dirname "$0")/.."

tabi=$1
robot=models/humanoid36.urdf

# show COMMAND... - prints a command as one would type it, then runs it
show() {
  printf '\n$ %s\n' "$*"
  "$@"
}

show "$tabi" info "$robot"
show "$tabi" check "$robot"

state='{"base": {"pos": [0, 0, 0.705]}, "q": {"l_knee": 0.8, "r_knee": 0.8}}'
printf "\n\$ echo '%s' | %s dynamics %s --state - | cut -c 1-400\n" "$state" "$tabi" "$robot"
echo "$state" | "$tabi" dynamics "$robot" --state - | cut -c 1-400 | head -n 12
