# A door in front of CMake; the real build is in CMakeLists.txt and CMakePresets.json.

.PHONY: help demo test check bench python clean

help:
	@echo 'make demo    build the command; a humanoid walks under every contact method'
	@echo 'make test    build with gcc (sanitizers) and clang (release) and run all tests'
	@echo 'make check   format, layering, documents, page, exports, lint, install, a minute of fuzzing'
	@echo 'make bench   build for this machine and measure dynamics and contact'
	@echo 'make python  build the wheel of the Python package into build/dist'
	@echo 'make clean   remove build/'

demo:
	@tools/install-packages.sh build demo
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target tabi-cli
	@tools/demo.sh build/release/tabi

test:
	@tools/install-packages.sh build test
	@tools/install-python.sh
	@tools/test.sh

check:
	@tools/install-packages.sh build test check
	@tools/check.sh

bench:
	@tools/install-packages.sh build
	@cmake --preset native >/dev/null
	@cmake --build --preset native
	@build/native/tabi bench

python:
	@tools/install-packages.sh build test
	@tools/make_wheel.sh

clean:
	rm -rf build
