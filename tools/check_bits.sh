#!/usr/bin/env bash
# check_bits.sh TABI TABI... - commands built by different compilers print the same digits, all
# seventeen of them, for the dynamics of a robot that tumbles with bent joints.
set -euo pipefail
cd "$(dirname "$0")/.."

state='{"base": {"pos": [0.1, -0.2, 0.7], "quat": [0.8, 0.36, -0.48, 0], "lin": [1, -2, 0.5],
                 "ang": [0.3, -1.1, 0.7]},
        "q": {"l_hip_pitch": -0.4, "l_knee": 0.9, "r_hip_roll": 0.2, "r_elbow": -1.3, "neck_yaw": 0.3},
        "v": {"l_knee": 2.1, "r_hip_pitch": -1.7, "waist_yaw": 0.9, "l_shoulder_pitch": -3.3},
        "tau": {"l_knee": 31, "r_ankle_pitch": -12.5, "waist_pitch": 44}}'

first=$1
shift
expected=$("$first" dynamics models/humanoid36.urdf --state - <<<"$state")
for tabi in "$@"; do
  if ! diff <(echo "$expected") <("$tabi" dynamics models/humanoid36.urdf --state - <<<"$state"); then
    echo "check_bits.sh: error: $first and $tabi do not agree" >&2
    exit 1
  fi
done
echo "same bits: $first $*"
