.DEFAULT_GOAL := help
PKG ?= ./...
REF ?= HEAD

SUITES := builder cache certwatcher client cluster controller/... envtest handler internal/controller internal/recorder manager source webhook/...

.PHONY: help build test suites race lint fix bench bench-compare golden fuzz run

help: ## print the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

build: ## build bin/miniapi
	go build -o bin/miniapi ./cmd/miniapi

test: ## run all tests
	go test $(PKG) && go -C e2e test ./...

suites: build ## run controller-runtime's own suites, with miniapi in the place of envtest's binaries
	eval "$$(bin/miniapi assets $(CURDIR)/bin/assets)" && go -C e2e test -count=1 $(SUITES:%=sigs.k8s.io/controller-runtime/pkg/%)

race: ## run all tests with the race detector
	go test -race $(PKG) && go -C e2e test -race ./...

lint: bin/staticcheck ## vet, staticcheck, gofmt
	go vet $(PKG) && go -C e2e vet ./...
	bin/staticcheck $(PKG)
	@test -z "$$(gofmt -l .)" || { gofmt -l .; exit 1; }

fix: ## format, and tidy the modules
	gofmt -w .
	go mod tidy && go -C e2e mod tidy && go -C tools mod tidy

bench: ## run the benchmarks, each beside raw etcd in the same run
	go test -run '^$$' -bench . -benchtime 2s ./bench

bench-compare: bin/benchstat ## compare the benchmarks with another revision (REF=)
	./bench/compare.sh $(REF) bin/benchstat

golden: ## rewrite the recorded transcripts under testdata; review them as prose
	go test ./api -update

fuzz: ## run every fuzz target for a while
	@for pkg in $$(grep -rl 'func Fuzz' --include='*_test.go' . | xargs -n1 dirname | sort -u); do \
	  for target in $$(grep -hoE 'func Fuzz[A-Za-z0-9]+' $$pkg/*_test.go | sed 's/func //'); do \
	    go test -run '^$$' -fuzz "^$$target$$" -fuzztime 20s $$pkg || exit 1; \
	  done; done

run: ## run the server
	go run ./cmd/miniapi

bin/staticcheck bin/benchstat: tools/go.mod
	go build -C tools -o "$(CURDIR)/bin/" honnef.co/go/tools/cmd/staticcheck golang.org/x/perf/cmd/benchstat
