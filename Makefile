# Thin: the work is in the CMake presets (CMakePresets.json). Each target first installs what it
# needs.
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60

all: ## build the programs, into build/bin
	@scripts/bootstrap build
	cmake --preset release --log-level=WARNING
	cmake --build --preset release
demo: all ## a real client validates, trains and questions the example case
	node examples/demo.mjs
test: bootstrap ## everything under ASan and UBSan, then what has threads under TSan
	scripts/run-tests dev tsan
fuzz: bootstrap ## each fuzz target for FUZZ_SECONDS
	scripts/run-fuzzers $(FUZZ_SECONDS)
bench: all ## figures, not tests
	scripts/bootstrap bench
	cmake --build --preset release --target bench
format lint: ## clang-format in place; clang-tidy
	scripts/bootstrap lint
	scripts/$@
docs: ## the library's manual, build/docs/html/index.html; a warning fails
	scripts/bootstrap docs
	mkdir -p build/docs
	doxygen docs/Doxyfile
install: $(if $(SUDO_USER),,all) ## PREFIX, DESTDIR; with sudo it builds nothing
	rm -f build/release/install_manifest.txt
	cmake --install build/release --prefix $(PREFIX)
	@$(if $(DESTDIR),:,[ "$$(id -u)" != 0 ] || /sbin/ldconfig)
uninstall: ## what the last `make install` of this tree installed; DESTDIR
	scripts/uninstall build/release/install_manifest.txt "$(DESTDIR)"
deb: ## the Debian packages of HEAD, into build/dist
	@scripts/bootstrap deb
	scripts/make-deb
dist: ## the programs with what they need, movable, for Linux with glibc: build/dist/*.tar.xz
	@scripts/bootstrap build
	node packaging/programs.mjs
# RELEASE: owner=, repo=, namespace=, images=, scope= (packaging/project.mjs)
bundles npm: dist ## bundles for hosts; packages of npm
	node packaging/$(if $(filter npm,$@),npm,bundle).mjs $(RELEASE)
images: ## images of the servers, of what `make deb` made: docs/containers.md
	node packaging/images.mjs $(RELEASE)
release: ## all files of a release, of the tag at HEAD, into build/dist: docs/releasing.md
	@scripts/bootstrap build
	node packaging/release.mjs $(RELEASE)
dist-test: ## the packages, units and installations; wants root for much of it
	scripts/dist-test
clean: ## what was fetched (.deps, node_modules) stays
	rm -rf build
bootstrap:
	@scripts/bootstrap
.PHONY: all demo test fuzz bench format lint docs install uninstall deb dist bundles npm images release dist-test clean bootstrap
