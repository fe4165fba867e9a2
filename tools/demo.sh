#!/usr/bin/env bash
# demo.sh TABI - a humanoid walks under each contact method, and on rubber feet with and without its
# stabiliser: a table of results, a figure of each run in demo/, and a replay of the first.
set -euo pipefail

tabi=$1
root=$(cd "$(dirname "$0")/.." && pwd)
out=$root/demo
mkdir -p "$out"

# gnuplot draws; without it there is a table and no figures
figures=yes
command -v gnuplot >/dev/null || figures=

header() {
  printf '  %-22s %5s %16s %10s %15s %12s %12s\n' "$1" fell 'final x y [m]' 'real time' \
    'penetration[mm]' 'gap [m]' 'slip [m/s]'
}

# walk NAME SCENE OPTION... - runs it and prints its row
walk() {
  local name=$1 scene=$2 plot=()
  shift 2
  [ -z "$figures" ] || plot=(--plot "$out/$name.svg")
  "$tabi" run "$root/scenes/$scene.yaml" "$@" ${plot[@]+"${plot[@]}"} | awk -v name="$name" '
    $1 == "speed" { speed = $2 }
    $1 == "penetration" { depth = $2 }
    $1 == "residual" { gap = $3; slip = $(NF - 1) }
    $1 == "fell" { fell = $2 }
    $1 == "robot/pelvis" { at = sprintf("%.3f %.3f", $2, $3) }
    END { printf "  %-22s %5s %16s %9.1fx %15s %12s %12s\n", name, fell, at, speed, depth, gap, slip }'
}

echo
echo "The robot:"
echo
"$tabi" info "$root/models/humanoid36.urdf" | sed -n '2,9p'

echo
echo "It walks nine steps along a curve, 11.5 s, under five contact methods (scenes/walk.yaml):"
echo
header method
for method in cone lcp exact penalty impulse; do
  html=()
  [ "$method" != cone ] || html=(--html "$out/walk.html")
  walk "walk-$method" walk --contact "$method" ${html[@]+"${html[@]}"}
done
echo
echo "  gap: max penetration after a step; slip: max dissipation residual of Coulomb friction"

echo
echo "The same on rubber feet, with a stabiliser that uses sensors only, and open loop"
echo "(scenes/walk_bush.yaml):"
echo
header cone
walk rubber-stabilised walk_bush
walk rubber-open-loop walk_bush --set robots.robot.controller.stabiliser=off

echo
if [ -n "$figures" ]; then
  echo "Figures of force, energy and residuals: $out/walk-cone.svg and the like, one for each line"
else
  echo "No figures: gnuplot is not installed"
fi
echo "Further: $tabi view scenes/walk.yaml, $tabi run scenes/biped_walk.yaml, $tabi help"
echo
echo "The walk with its forces, as a replay: open $out/walk.html in a browser"
