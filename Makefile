# make build       the program, static: ./loadtest; with DPDK, on Linux: make build DPDK=1 (needs libdpdk-dev)
# make demo        a whole search for the limit, on simulated devices
# make test        all tests; as root on Debian, missing packages are installed first
# make verify      the repeats: n of n runs on real devices; by hand
# make bench       packets per second
# make bench-search  how fast and how right the searches are, on simulated devices
# make fuzz TIME=10m   each fuzz target in turn
# make soak        virtual days
# make lint, make third-party, make clean

GO      ?= go
TIME    ?= 5s
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)

# What tests on devices need, by name in Debian.
PACKAGES = iproute2 procps nftables tshark charon-systemd strongswan-swanctl \
	libcharon-extra-plugins libstrongswan-extra-plugins libstrongswan-standard-plugins \
	wireguard-go wireguard-tools tcpdump libcap2-bin ethtool dpdk dpdk-dev libdpdk-dev pkg-config gcc libc6-dev

# Other systems on which the program must build.
SYSTEMS = linux/arm64 darwin/arm64 freebsd/amd64 windows/amd64

# DPDK's libraries are C's: that build is not static.
ifdef DPDK
TAGS = -tags dpdk
endif
export CGO_ENABLED = $(if $(DPDK),1,0)

.PHONY: demo build test verify bench bench-search fuzz lint soak clean go packages cross third-party

build: go
ifdef DPDK
	@pkg-config --exists libdpdk || { echo "make build DPDK=1 needs libdpdk: apt install libdpdk-dev pkg-config gcc" >&2; exit 1; }
endif
	$(GO) build $(TAGS) -trimpath -buildvcs=false -ldflags '-s -w -X main.release=$(VERSION)' -o loadtest ./cmd/loadtest

# The walk-through by hand: configurations, captures, search. `./loadtest demo` is the same in one command.
demo: build
	@set -e; d=$$(mktemp -d); trap 'rm -r "$$d"' EXIT; cd testdata/vita-pair; PATH="$(CURDIR):$$PATH"; \
	for n in 1 2; do \
		echo "$$ loadtest genconf < gentest-node$$n.conf"; loadtest genconf < gentest-node$$n.conf; \
		echo "$$ loadtest genpcap < gentest-node$$n.conf > node$$n.pcap"; loadtest genpcap < gentest-node$$n.conf > $$d/node$$n.pcap; \
	done; cd $$d; \
	echo "$$ loadtest find-limit -b 1e9 -p 1e6 node1.pcap node1 node2 sim:vita-1gbe/node1 node2.pcap node2 node1 sim:vita-1gbe/node2"; \
	loadtest find-limit -b 1e9 -p 1e6 node1.pcap node1 node2 sim:vita-1gbe/node1 node2.pcap node2 node1 sim:vita-1gbe/node2

test: go packages cross
	$(GO) vet ./...
	$(GO) test $$($(GO) list ./... | grep -v /internal/e2e$$)
	@pkg-config --exists libdpdk || { echo "libdpdk is not installed: DPDK is not tested"; exit 0; }; \
	CGO_ENABLED=1 $(GO) vet -tags dpdk ./nic/dpdk ./nic/dial ./cmd/loadtest && CGO_ENABLED=1 $(GO) test -tags dpdk -timeout 10m ./nic/dpdk
	LOADTEST_E2E=1 $(GO) test -p 1 -count 1 -timeout 45m ./internal/e2e

verify: go packages
	LOADTEST_E2E=1 LOADTEST_VERIFY=1 $(GO) test -p 1 -count 1 -timeout 0 -v ./internal/e2e

soak: go
	LOADTEST_SOAK=1 $(GO) test -count 1 -timeout 0 -run Soak -v ./...

bench: go
	@$(GO) test -p 1 -run xxx -bench . -benchmem $$(grep -rl '^func Benchmark' --include='*_test.go' . | xargs -n 1 dirname | sort -u)

# Searches on simulated devices whose limit is known: SEARCH_SET=DIR has them, SEARCH_OUT=DIR gets the CSV files.
SEARCH_SET ?= $(if $(LOADTEST_GOLDEN),$(LOADTEST_GOLDEN),../shared/golden)/search
SEARCH_OUT ?= search-out
bench-search: go
	$(GO) run ./bench/search -set "$(SEARCH_SET)" -out "$(SEARCH_OUT)"

fuzz: go
	@grep -rHo '^func Fuzz[A-Za-z0-9_]*' --include='*_test.go' . | sort | while IFS=: read -r file name; do \
		echo "$${file%/*} $${name#func }"; \
		$(GO) test -run xxx -fuzz "^$${name#func }$$" -fuzztime $(TIME) "$${file%/*}" </dev/null || exit 1; \
	done

lint: go
	@f=$$(gofmt -l .); [ -z "$$f" ] || { echo "not formatted, gofmt -w:" $$f; exit 1; }
	$(GO) vet ./...
	@if command -v staticcheck >/dev/null; then staticcheck ./...; else echo "staticcheck is not installed: skipped"; fi

clean:
	rm -f loadtest

# Another system's go vet reads tests too; the build shows that the program links.
cross: go
	@for s in $(SYSTEMS); do \
		echo "$$s"; export GOOS=$${s%/*} GOARCH=$${s#*/}; \
		$(GO) vet ./... && $(GO) build -buildvcs=false -o /dev/null ./cmd/loadtest || exit 1; \
	done

# Go 1.26 or newer, before anything else says something less clear.
go:
	@v=$$($(GO) env GOVERSION 2>&1) || v="none that runs ($$v)"; \
	case "$$v" in \
	go1.2[6-9]*|go1.[3-9][0-9]*|go[2-9]*|devel*) ;; \
	*) echo "loadtest needs Go 1.26 or newer; here is $$v." >&2; \
	   echo "Install it from https://go.dev/dl/ into /usr/local/go, then: export PATH=/usr/local/go/bin:\$$PATH" >&2; exit 1;; \
	esac

packages:
	@[ "$$(id -u)" = 0 ] && [ -f /etc/debian_version ] || exit 0; \
	missing=$$(for p in $(PACKAGES); do \
		dpkg-query -W -f='$${db:Status-Status}\n' $$p 2>/dev/null | grep -qx installed || echo $$p; done); \
	[ -n "$$missing" ] || exit 0; \
	echo "installing" $$missing; export DEBIAN_FRONTEND=noninteractive; \
	apt-get -qq update && apt-get -qq install -y --no-install-recommends $$missing >/dev/null

# Made from go.mod; a test fails when it is not up to date.
third-party: go
	.ci/third-party >THIRD_PARTY.tmp
	mv THIRD_PARTY.tmp THIRD_PARTY.md
