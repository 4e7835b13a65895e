# Tessera. `make` builds build/tessera, `make check` installs what is missing, builds and runs every test.
#
# Sources are found by wildcard: one folder under src/ is one room (src/README.md). Variables a caller may
# set: BUILD (output directory), CC, CXX, SANITIZE=1, JOBS (parallel compilations, default: all processors).

ifeq ($(origin CC),default)
CC = gcc
endif
BUILD ?= build
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

# A fresh system has no pkg-config yet, so nothing here may fail while this file is read.
PACKAGES := jansson libturbojpeg spng capnp libelf
PACKAGE_CFLAGS := $(shell pkg-config --cflags $(PACKAGES) 2>/dev/null)
PACKAGE_LIBS := $(shell pkg-config --libs jansson libturbojpeg spng libelf 2>/dev/null)
LIBS = $(PACKAGE_LIBS) -lcapnp -lkj -ldnnl -lm -lpthread

WARNINGS = -Wall -Wextra -Wconversion -Werror
CXX_WARNINGS = $(filter-out -Wconversion,$(WARNINGS))
OPTIMISE = -O2 -g -march=x86-64-v2
FLOATS = -ffp-contract=off
ifeq ($(SANITIZE),1)
OPTIMISE = -O1 -g -march=x86-64-v2 -fsanitize=address,undefined -fno-sanitize-recover=all
# Instrumented code makes gcc see possible null pointers and truncations that are not there.
WARNINGS = -w
endif
# Targets of libFuzzer: `make fuzz` builds them with clang in a directory of their own.
ifeq ($(FUZZ),1)
OPTIMISE = -O1 -g -march=x86-64-v2 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
endif
INCLUDES = -Isrc -Itests -I$(BUILD)/gen
CFLAGS_ALL = -std=c17 -D_GNU_SOURCE $(OPTIMISE) $(WARNINGS) $(FLOATS) $(INCLUDES) $(PACKAGE_CFLAGS)
CXXFLAGS_ALL = -std=c++17 -D_GNU_SOURCE $(OPTIMISE) $(CXX_WARNINGS) $(FLOATS) $(INCLUDES) $(PACKAGE_CFLAGS)
LINK = $(CXX) $(OPTIMISE)

C_SOURCES := $(sort $(wildcard src/*/*.c))
CXX_SOURCES := $(sort $(wildcard src/package/*.cpp))
SCHEMAS := $(sort $(wildcard src/package/*.capnp))
KERNELS := $(sort $(wildcard kernels/*.s kernels/*.inc))
EXCHANGE_CORPUS := $(sort $(wildcard bench/exchange/*.exchange))
PLACE_CORPUS := $(sort $(wildcard bench/place/*.place)) $(sort $(wildcard bench/place/minimalloc/*.csv))
TEST_SOURCES := $(sort $(wildcard tests/*/test_*.c))

MAIN_OBJECT := $(patsubst %.c,$(BUILD)/%.o,$(wildcard src/cli/main.c))
SCHEMA_OBJECTS := $(patsubst src/package/%.capnp,$(BUILD)/gen/%.capnp.o,$(SCHEMAS))
LIBRARY_OBJECTS := $(filter-out $(MAIN_OBJECT),$(C_SOURCES:%.c=$(BUILD)/%.o)) \
	$(CXX_SOURCES:%.cpp=$(BUILD)/%.o) $(SCHEMA_OBJECTS) \
	$(BUILD)/gen/kernels_embedded.o $(BUILD)/gen/exchange_embedded.o \
	$(BUILD)/gen/place_embedded.o
TESTS := $(TEST_SOURCES:%.c=$(BUILD)/%)
TOOLS := $(patsubst %.c,$(BUILD)/%,$(sort $(wildcard tools/*.c)))
BENCHES := $(patsubst %.c,$(BUILD)/%,$(sort $(wildcard bench/*.c)))
FUZZERS := $(patsubst %.c,$(BUILD)/%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
# A failed ASSERT must abort, not exit, for libFuzzer to keep its input.
FUZZ_ABORT = -Wl,--wrap=assert_failed_ -Wl,--defsym=__wrap_assert_failed_=abort
FUZZ_SECONDS ?= 60
PROGRAM := $(if $(MAIN_OBJECT),$(BUILD)/tessera)

# Rooms whose tests are quick enough to run under sanitizers.
SMALL_ROOMS = base chip isa tensor layout asm elf kernel graph import plan lower place exchange package runtime
SMALL_TESTS := $(foreach room,$(SMALL_ROOMS),$(filter $(BUILD)/tests/$(room)/%,$(TESTS)))

.PHONY: all tests check check-built check-small ready bless fmt fmt-check fuzz fuzzers demo bench full clean rooms headers FORCE
.DELETE_ON_ERROR:
.SECONDARY:

all: $(BUILD)/libtessera.a $(PROGRAM)

tests: all $(TESTS) $(TOOLS)

# --- compiling -------------------------------------------------------------------------------------------

# Rewritten only when the compiler or its flags change; every object depends on it.
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(CC) $(CFLAGS_ALL) $(CXX) $(CXXFLAGS_ALL)' | cmp -s - $@ || echo '$(CC) $(CFLAGS_ALL) $(CXX) $(CXXFLAGS_ALL)' > $@

# Rewritten only when a file to embed comes, goes or gets another name; a changed one is newer itself.
EMBEDDED := $(KERNELS) $(EXCHANGE_CORPUS) $(PLACE_CORPUS)
$(BUILD)/embedded: FORCE
	@mkdir -p $(@D)
	@echo '$(EMBEDDED)' | cmp -s - $@ || echo '$(EMBEDDED)' > $@

# The machine interprets every instruction of 1472 tiles: the one room where -O3 pays.
$(BUILD)/src/machine/%.o: OPTIMISE += $(if $(SANITIZE)$(FUZZ),,-O3)

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -MMD -MP -c $< -o $@

$(BUILD)/%.o: %.cpp $(BUILD)/flags $(SCHEMAS:src/package/%.capnp=$(BUILD)/gen/%.capnp.h)
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS_ALL) -MMD -MP -c $< -o $@

$(BUILD)/gen/%.capnp.h $(BUILD)/gen/%.capnp.c++: src/package/%.capnp
	@mkdir -p $(@D)
	capnp compile -oc++:$(BUILD)/gen --src-prefix=src/package $<

$(BUILD)/gen/%.capnp.o: $(BUILD)/gen/%.capnp.c++ $(BUILD)/flags
	$(CXX) $(CXXFLAGS_ALL) -MMD -MP -c $< -o $@

$(BUILD)/gen/kernels_embedded.c: tools/embed.sh $(BUILD)/embedded $(KERNELS)
	@mkdir -p $(@D)
	tools/embed.sh kernel/embedded.h EmbeddedFile kernel $(KERNELS) > $@

$(BUILD)/gen/exchange_embedded.c: tools/embed.sh $(BUILD)/embedded $(EXCHANGE_CORPUS)
	@mkdir -p $(@D)
	tools/embed.sh cli/corpus.h CorpusFile exchange $(EXCHANGE_CORPUS) > $@

$(BUILD)/gen/place_embedded.c: tools/embed.sh $(BUILD)/embedded $(PLACE_CORPUS)
	@mkdir -p $(@D)
	tools/embed.sh cli/corpus.h CorpusFile place $(PLACE_CORPUS) > $@

$(BUILD)/gen/%_embedded.o: $(BUILD)/gen/%_embedded.c $(BUILD)/flags
	$(CC) $(CFLAGS_ALL) -MMD -MP -c $< -o $@

$(BUILD)/libtessera.a: $(LIBRARY_OBJECTS)
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/tessera: $(MAIN_OBJECT) $(BUILD)/libtessera.a
	$(LINK) $^ $(LIBS) -o $@

$(TESTS) $(TOOLS) $(BENCHES): %: %.o $(BUILD)/libtessera.a
	$(LINK) $^ $(LIBS) -o $@

$(FUZZERS): %: %.o $(BUILD)/libtessera.a
	$(LINK) -fsanitize=fuzzer $(FUZZ_ABORT) $^ $(LIBS) -o $@

fuzzers: $(FUZZERS)

# --- checking --------------------------------------------------------------------------------------------

# The packages may have just been installed, so the rest is read again by a second make.
check:
	@tools/install-deps
	@$(MAKE) --no-print-directory -s -j$(JOBS) tests
	@$(MAKE) --no-print-directory -s check-built

check-built:
	@BUILD=$(BUILD) tools/run-tests

# Meant for SANITIZE=1 BUILD=build-asan; no second make, so only after `check` or tools/install-deps.
check-small: all $(SMALL_TESTS)
	@BUILD=$(BUILD) tools/run-tests $(SMALL_ROOMS)

bless: tests
	@BUILD=$(BUILD) tools/run-tests --bless

rooms:
	@tools/rooms.sh

headers:
	@tools/headers.sh

FORMATTED = $(wildcard src/*/*.[ch] src/*/*.cpp tests/*.h tests/*/*.c tests/*/*.h tools/*.c bench/*.c)

fmt:
	clang-format -i $(FORMATTED)

fmt-check:
	@clang-format --dry-run -Werror $(FORMATTED)

ready:
	@tools/install-deps --developer
	@$(MAKE) --no-print-directory -s fmt-check rooms headers
	@$(MAKE) --no-print-directory -s -j$(JOBS) CC=clang BUILD=build-clang tests
	@$(MAKE) --no-print-directory -s -j$(JOBS) SANITIZE=1 BUILD=build-asan check-small
	@$(MAKE) --no-print-directory -s fuzz FUZZ_SECONDS=10
	@$(MAKE) --no-print-directory -s -j$(JOBS) tests
	@$(MAKE) --no-print-directory -s check-built

# Every target of tests/fuzz/ for FUZZ_SECONDS, under address and undefined-behaviour sanitizers.
fuzz:
	@tools/install-deps --developer
	@$(MAKE) --no-print-directory -s -j$(JOBS) FUZZ=1 CC=clang CXX=clang++ BUILD=build-fuzz fuzzers
	@tools/fuzz.sh build-fuzz $(FUZZ_SECONDS)

demo:
	@tools/install-deps
	@$(MAKE) --no-print-directory -s -j$(JOBS) all
	@tools/demo.sh

bench: all $(BENCHES)
	@tools/bench.sh $(BUILD)

# Everything that is slow: the whole of `ready`, many more random phases and placement problems, then the measurements.
EXCHANGE_PHASES ?= 10000
PLACE_PROBLEMS ?= 100000
full: ready
	@EXCHANGE_PHASES=$(EXCHANGE_PHASES) $(BUILD)/tests/exchange/test_random
	@PLACE_PROBLEMS=$(PLACE_PROBLEMS) $(BUILD)/tests/place/test_random
	@$(MAKE) --no-print-directory -s bench

clean:
	rm -rf build build-asan build-clang build-fuzz

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
