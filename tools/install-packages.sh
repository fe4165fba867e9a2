#!/usr/bin/env bash
# install-packages.sh [build] [demo] [test] [check] [bench] - makes sure that what tabi needs is on this machine.
#
# Looks for each thing first and does nothing, without root, when all are there.  On Debian and its
# relatives it installs what is missing with apt-get; elsewhere it says what to install.  It fails only
# for want of something that tabi cannot do without.
set -euo pipefail

# purpose, how to look for it, Debian package, name upstream; a "?" means that tabi can do without
things='
build  command:make             make             GNU make
build  command:gcc              gcc              GCC 12 or newer
build  header:stdlib.h          libc6-dev        C library headers
build  command:cmake            cmake            CMake 3.25 or newer
build  command:ninja            ninja-build      Ninja
build  command:pkg-config       pkg-config       pkg-config
build  module:expat             libexpat1-dev    expat
build  module:jansson           libjansson-dev   jansson
build  module:libfyaml          libfyaml-dev     libfyaml
build  module:qhull_r           libqhull-dev     qhull, reentrant
build  module:zlib              zlib1g-dev       zlib
build  module:sqlite3           libsqlite3-dev   SQLite 3
build  module:cminpack          libcminpack-dev  cminpack
build  module:ccd               libccd-dev       libccd
build  header:civetweb.h        libcivetweb-dev  civetweb
build  header:meshoptimizer.h   libmeshoptimizer-dev meshoptimizer
build  module:libzstd           libzstd-dev      ?zstd, for smaller MCAP files of tabi export
build  module:hdf5              libhdf5-dev      ?HDF5, for tabi export
demo   command:gnuplot          gnuplot-nox      ?gnuplot, for figures
test   command:clang            clang            clang 14 or newer
test   module:cmocka            libcmocka-dev    cmocka
test   header:mujoco/mujoco.h   libmujoco-dev    ?MuJoCo 2.2.2, as oracle
test   header:siconos/SiconosConfig.h libsiconos-numerics-dev ?Siconos numerics, as oracle
test   command:localedef        libc-bin         localedef
test   locale:de_DE             locales          sources of the glibc locales
test   command:python3          python3          Python 3
test   python:ensurepip         python3-venv     ?virtual environments of Python, for packages to compare with
test   pyheader:Python.h        libpython3-dev   ?headers of Python 3.11 or newer, for the package tabi
test   command:node             nodejs           ?Node.js 18 or newer, for tests of exports and the viewer
test   command:npm              npm              ?npm, for packages of these tests
test   command:chromium         chromium         ?Chromium, for tests of the viewer
test   module:ompi-c            libopenmpi-dev   ?Open MPI, for tabi-sweep-mpi
test   command:mpirun           openmpi-bin      ?mpirun, to test it
test   command:pgrep            procps           ?pgrep, likewise
test   command:slurmctld        slurmctld        ?Slurm, to test tabi sweep --slurm
test   command:slurmd           slurmd           ?its nodes
test   command:sbatch           slurm-client     ?its commands
test   command:munged           munge            ?its authentication
test   command:gnuplot          gnuplot-nox      ?gnuplot, for tabi run --plot
check  command:git              git              git
check  command:nm               binutils         GNU binutils
check  command:g++              g++              GCC for C++
check  command:clang-format     clang-format     clang-format 14 or newer
check  command:clang-tidy       clang-tidy       clang-tidy 14 or newer
check  runtime:fuzzer           libclang-rt-dev  libFuzzer and the sanitizers of clang
bench  header:mujoco/mujoco.h   libmujoco-dev    ?MuJoCo, as peer of tabi bench
bench  module:bullet-float64    libbullet-dev    ?Bullet, as peer of tabi bench
bench  module:ode               libode-dev       ?ODE, as peer of tabi bench
bench  header:dart/collision/ode/OdeCollisionDetector.hpp libdart-collision-ode-dev ?DART, as peer of tabi bench
bench  command:g++              g++              ?GCC for C++, for Bullet and DART
bench  command:valgrind         valgrind         ?valgrind, to count instructions of peers
'

# a program on which clang's fuzzer and sanitizer libraries can be tried
fuzzer_program='int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return !d && n; }'

is_there() {
  local kind=${1%%:*} name=${1#*:}
  case $kind in
    command) command -v "$name" >/dev/null ;;
    module) command -v pkg-config >/dev/null && pkg-config --exists "$name" ;;
    header) [ -e "/usr/include/$name" ] ||
      { command -v gcc >/dev/null && echo "#include <$name>" | gcc -E - >/dev/null 2>&1; } ;;
    python) command -v python3 >/dev/null && python3 -c "import $name" 2>/dev/null ;;
    pyheader) command -v python3 >/dev/null && [ -e "$(python3 -c 'import sysconfig
print(sysconfig.get_paths()["include"])')/$name" ] ;;
    locale) [ -e "/usr/share/i18n/locales/$name" ] ;;
    runtime) command -v clang >/dev/null && echo "$fuzzer_program" |
      clang -fsanitize=fuzzer,address,undefined -x c - -o /dev/null 2>/dev/null ;;
  esac
}

purposes=" ${*:-build test check} "
packages=()
upstream=()
needed=0
while read -r purpose probe package name; do
  [[ -n $purpose && $purposes == *" $purpose "* ]] || continue
  if is_there "$probe"; then continue; fi
  packages+=("$package")
  upstream+=("${name#\?}")
  [[ $name == \?* ]] || needed=1
done <<<"$things"
[ ${#packages[@]} -gt 0 ] || exit 0

if ! command -v apt-get >/dev/null; then
  echo "tabi: this is not Debian; please install:" >&2
  printf '  %s\n' "${upstream[@]}" >&2
  exit $needed
fi

# without - what is missing is named; an error only if it is needed
without() {
  if [ "$needed" -ne 0 ]; then
    echo "tabi: please run as root: apt-get install ${packages[*]}" >&2
    exit 1
  fi
  echo "tabi: going on without ${packages[*]}; to have them, run as root: apt-get install ${packages[*]}" >&2
  exit 0
}

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || without
  as_root=(sudo)
  # nobody is asked for a password for what tabi can do without
  [ "$needed" -ne 0 ] || as_root=(sudo -n)
fi
echo "tabi: installing ${packages[*]}" >&2
"${as_root[@]}" apt-get update -q >&2 || without
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -q -y --no-install-recommends "${packages[@]}" >&2 || without
