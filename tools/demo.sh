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

# the JSON of the dynamics is long: show where the mass is, and the start of what holds it up
state='{"base": {"pos": [0, 0, 0.705]}, "q": {"l_knee": 0.8, "r_knee": 0.8}}'
filter='"(mass|com|potential|dofs|bias)"'
printf "\n\$ echo '%s' |\n    %s dynamics %s --state - | grep -E '%s' | cut -c 1-100\n" \
  "$state" "$tabi" "$robot" "$filter"
echo "$state" | "$tabi" dynamics "$robot" --state - | grep -E "$filter" | cut -c 1-100
