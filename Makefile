.DEFAULT_GOAL := help
PKG ?= ./...
REF ?= HEAD
RELEASE ?= 1.37
# The modules with tests, except the main one.
MODULES := $(shell cat .ci/modules)

# Packages of controller-runtime with suites that run against a control plane.
SUITES := builder cache certwatcher client cluster controller/... envtest handler internal/controller internal/recorder manager source webhook/...

# Releases of kubectl that play the scripts in test/e2e, in addition to the one in test/e2e/go.mod:
# the last patch of each minor release.
KUBECTLS := 1.36.6 1.35.10 1.34.13 1.33.13 1.32.13 1.31.14 1.30.14

# Platforms of releases besides Linux.
PLATFORMS := darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

# Licences that dependencies of the command may have, by their SPDX identifiers.
LICENCES := Apache-2.0,BSD-2-Clause,BSD-3-Clause,ISC,MIT

# Packages with fuzz targets, and the parsers whose coverage guides the fuzzing besides the coverage
# of the package. "go test -fuzz" instruments all dependencies: half a million counters, which take
# milliseconds of each execution.
FUZZ ?= $(shell grep -rl 'func Fuzz' --include='*_test.go' . | xargs -n1 dirname | sort -u)
PARSERS := go.yaml.in/yaml/v2 sigs.k8s.io/yaml sigs.k8s.io/json/... github.com/fxamacker/cbor/v2 \
	gopkg.in/evanphx/json-patch.v4 github.com/munnerz/goautoneg github.com/google/cel-go/parser/... \
	github.com/google/cel-go/checker $(patsubst %,k8s.io/apimachinery/pkg/%,labels fields api/resource \
	util/yaml util/strategicpatch runtime/serializer/...)

GORELEASER := v2.15.1

.PHONY: help build test suites skew adoption controlplane robustness robustness-planted soak race lint cross fix bench chart bench-compare compare cast screenshots site golden fuzz run release-check release

help: ## print the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

build: ## build bin/miniapi
	go build -o bin/miniapi ./cmd/miniapi

test: ## run all tests
	go test $(PKG)$(MODULES:%= && go -C % test ./...)

suites: build ## run the suites of controller-runtime with miniapi instead of envtest's binaries
	eval "$$(bin/miniapi assets $(CURDIR)/bin/assets)" && go -C test/e2e test -count=1 $(SUITES:%=sigs.k8s.io/controller-runtime/pkg/%)

skew: $(KUBECTLS:%=bin/kubectl-%) ## play the kubectl scripts with older releases of kubectl
	@status=0; for kubectl in $^; do echo $$kubectl; \
	  go -C test/e2e test -count=1 -run TestKubectl . -kubectl "$(CURDIR)/$$kubectl" $(UPDATE) || status=1; \
	done; exit $$status

adoption: build ## test miniapitest with Kubernetes libraries v0.29 to v0.37; compiles each of them
	@for mod in test/adoption/*/go.mod; do module=$$(dirname $$mod); echo $$module; \
	  MINIAPI_BIN="$(CURDIR)/bin/miniapi" go -C $$module test -count=1 ./... || exit 1; done

controlplane: build bin/controlplane-$(RELEASE) ## run kube-controller-manager, kube-scheduler, kwok and sample-apiserver (RELEASE=1.36)
	go -C test/controlplane test -count=1 ./... -programs "$(CURDIR)/bin/controlplane-$(RELEASE)"

robustness: ## test with faults for DURATION (10m): kills, partitions, full disks; SEED= repeats
	go -C test/robustness test -v -count=1 -timeout 2h -run TestRobustness . -duration $(or $(DURATION),10m) -seed $(or $(SEED),0)

robustness-planted: ## show that the robustness tests find each of the defects in testdata/planted
	go -C test/robustness test -v -count=1 -timeout 1h -run TestPlanted . -planted 12s

soak: ## write 200 times a second with 500 watches for DURATION (2h), and draw bin/soak.svg
	@mkdir -p bin
	go -C test/robustness test -v -count=1 -timeout 25h -run TestSoak . -soak $(or $(DURATION),2h) -soak-file "$(CURDIR)/bin/soak.txt"
	go -C tools run ./chart -curves -title "Memory and goroutines, relative to the second quarter" <bin/soak.txt >bin/soak.svg

race: ## run all tests with the race detector
	go test -race $(PKG)$(MODULES:%= && go -C % test -race ./...)

lint: bin/staticcheck bin/go-licenses bin/govulncheck ## vet, staticcheck, gofmt, licences, known vulnerabilities
	go vet $(PKG)$(MODULES:%= && go -C % vet ./...)
	bin/staticcheck $(PKG)
	@test -z "$$(gofmt -l .)" || { gofmt -l .; exit 1; }
	bin/go-licenses check ./cmd/miniapi --allowed_licenses=$(LICENCES)
	@# Exit code 1 means that nothing was checked, for example without a connection to the database.
	bin/govulncheck ./cmd/miniapi || { test $$? = 1 && echo "lint: vulnerabilities were NOT checked"; }

cross: ## build and vet for macOS and Windows; compiles all dependencies for each platform
	@for platform in $(PLATFORMS); do echo $$platform; \
	  export GOOS=$${platform%/*} GOARCH=$${platform#*/} CGO_ENABLED=0; \
	  go build ./... && go vet ./...$(MODULES:%= && go -C % vet ./...) || exit 1; done

fix: ## format, and tidy the modules
	gofmt -w .
	go mod tidy$(MODULES:%= && go -C % mod tidy) && go -C tools mod tidy

bench: ## run the benchmarks and draw bin/*.svg; with BENCH_KUBE_APISERVER=DIR also with the kube-apiserver and etcd in DIR
	@mkdir -p bin
	go test -run '^$$' -bench . -skip '^Benchmark(Growth|Requests)$$' -benchtime 2s ./test/bench | tee bin/bench.txt
	$(if $(BENCH_KUBE_APISERVER),BENCH_KUBE_APISERVER="$(abspath $(BENCH_KUBE_APISERVER))") go test -run '^$$' -bench '^Benchmark(Growth|Requests)$$' -benchtime 300ms ./test/bench | tee bin/growth.txt
	go -C tools run ./chart -title "Rate of miniapi, divided by the rate of raw etcd or of the case compared" <bin/bench.txt >bin/bench.svg
	go -C tools run ./chart -curves -title "CPU time and memory by the size of the work" <bin/growth.txt >bin/growth.svg
	$(if $(BENCH_KUBE_APISERVER),go -C tools run ./chart -metric cpu-quotient -title "CPU time of kube-apiserver with etcd$(comma) divided by miniapi's" <bin/growth.txt >bin/kube-apiserver.svg)

chart: ## draw the recorded comparison with kube-apiserver
	go -C tools run ./chart -title "CPU time of kube-apiserver with etcd, divided by miniapi's" <docs/assets/kube-apiserver.txt >docs/assets/kube-apiserver.svg

bench-compare: bin/benchstat ## compare the benchmarks with another revision (REF=)
	./test/bench/compare.sh $(REF) bin/benchstat

compare: ## measure miniapi, fake clients and, with ASSETS=, envtest: the table of README.md
	go -C test/e2e run ./cmd/compare $(if $(ASSETS),-assets "$(abspath $(ASSETS))")

cast: ## draw the picture of README.md
	go -C test/e2e run ./cmd/cast >docs/assets/miniapi.svg.new && mv docs/assets/miniapi.svg.new docs/assets/miniapi.svg

screenshots: ## draw the pictures of docs/page.md; needs Chromium
	go -C test/e2e/browser run ./cmd/screenshots "$(CURDIR)/docs/assets"

site: ## build the documentation as a website in bin/site; needs mkdocs
	mkdocs build --strict --config-file tools/site/mkdocs.yml

golden: ## rewrite the recorded transcripts and help texts; review the diff
	go test ./api -update
	go run ./cmd/miniapi --help >cmd/miniapi/testdata/help.txt

fuzz: ## run every fuzz target for TIME (20s, or a number of executions such as 1000000x)
	@mkdir -p bin
	@set -e; for pkg in $(FUZZ); do \
	  go test -c -o bin/fuzz.test $(PARSERS:%=-gcflags=%=-d=libfuzzer) -gcflags="$$pkg=-d=libfuzzer" $$pkg; \
	  for target in $$(grep -hoE 'func Fuzz[A-Za-z0-9]+' $$pkg/*_test.go | sed 's/func //'); do \
	    (cd $$pkg && "$(CURDIR)/bin/fuzz.test" -test.run '^$$' -test.fuzz "^$$target$$" -test.fuzztime $(or $(TIME),20s) \
	      -test.fuzzcachedir "$$(go env GOCACHE)/fuzz/$$(go list .)"); \
	  done; done

run: ## run the server
	go run ./cmd/miniapi

release-check: bin/goreleaser ## check the configuration of releases and build the archives of one in dist/
	bin/goreleaser check
	bin/goreleaser release --snapshot --clean --skip=docker$(if $(shell command -v syft),,$(comma)sbom)

release: bin/goreleaser ## publish the release TAG; run by CI for a tag
	@test "$$(git rev-parse "miniapitest/$(TAG)^{commit}")" = "$$(git rev-parse HEAD)" || { echo "tag miniapitest/$(TAG) must be at this commit"; exit 1; }
	.ci/release-notes "$(TAG)" >bin/release-notes.md
	bin/goreleaser release --clean --release-notes bin/release-notes.md

comma := ,

# test/e2e/cmd/kubectl, built with the modules of another release.
bin/kubectl-%:
	@mkdir -p bin
	printf 'module github.com/miniapi/miniapi/test/e2e\n\ngo 1.26.0\n\nrequire k8s.io/kubectl v%s\n' 0.$(*:1.%=%) >$@.mod
	go build -C test/e2e -modfile=../../$@.mod -mod=mod -ldflags '-X k8s.io/component-base/version.gitVersion=v$*' -o ../../$@ ./cmd/kubectl

# The programs of test/controlplane, and the stages of kwok.
STAGES := node/fast/node-initialize node/heartbeat-with-lease/node-heartbeat-with-lease \
	pod/fast/pod-ready pod/fast/pod-complete pod/fast/pod-delete
bin/controlplane-%: test/controlplane/v%/go.mod
	@mkdir -p $@
	go build -C $(<D) -o "$(CURDIR)/$@/" tool
	kwok=$$(go -C $(<D) list -m -f '{{.Dir}}' sigs.k8s.io/kwok) && for stage in $(STAGES); do \
	  echo --- && cat "$$kwok/kustomize/stage/$$stage.yaml" && echo || exit 1; done >$@/kwok-stages.yaml
	@touch $@

# Not in tools/go.mod, whose module graph it would multiply.
bin/goreleaser: Makefile
	GOBIN="$(CURDIR)/bin" go install github.com/goreleaser/goreleaser/v2@$(GORELEASER)

# Without -trimpath: go-licenses takes all packages for the standard library otherwise.
bin/staticcheck bin/benchstat bin/govulncheck bin/go-licenses: tools/go.mod
	GOFLAGS= go build -C tools -o "$(CURDIR)/bin/" honnef.co/go/tools/cmd/staticcheck golang.org/x/perf/cmd/benchstat \
	  golang.org/x/vuln/cmd/govulncheck github.com/google/go-licenses/v2
