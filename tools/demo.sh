#!/usr/bin/env bash
# demo.sh TABI - a humanoid stands under each contact method: what came out, side by side, and a
# figure of each run in demo/.
set -euo pipefail

tabi=$1
root=$(cd "$(dirname "$0")/.." && pwd)
out=$root/demo
mkdir -p "$out"

echo
echo "The robot:"
echo
"$tabi" info "$root/models/humanoid36.urdf" | sed -n '2,9p'

for method in cone lcp exact penalty impulse; do
  echo
  echo "Standing for 5 s, contact method $method:"
  echo
  "$tabi" run "$root/scenes/stand.yaml" --contact "$method" --time 5 --plot "$out/stand-$method.svg"
done

echo
echo "Figures: demo/stand-cone.svg and the like, one for each method"
echo "Further: $tabi run scenes/pile.yaml, or $tabi help"
