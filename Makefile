# What CI runs is `make check` and `make e2e`; both work on a fresh machine.

export CGO_ENABLED ?= 0
FUZZTIME ?= 10s
KILLS ?= 100
SEED ?= 1

help: ## list the targets
	@grep -E '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

build: ## build ./blueprintd, statically linked
	go build -trimpath -tags urfave_cli_no_docs -ldflags='-s -w' -o blueprintd .

test: ## the tests that need Go alone
	go test ./...

check: lint race bench cross ## everything CI asks for besides the browserless end-to-end tests

lint: ## gofmt, go vet, staticcheck, a tidy go.mod
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "hint: run gofmt -w on these files"; exit 1; }
	go vet ./...
	go tool staticcheck ./...
	go mod tidy -diff
	go mod verify

race: ## all tests in random order under the race detector
	CGO_ENABLED=1 go test -race -shuffle=on ./...

bench: ## each benchmark once, so that none rots
	go test -run '^$$' -bench . -benchtime 1x ./...

cross: ## the other platforms still build
	GOOS=linux GOARCH=arm64 go build -o /dev/null .
	GOOS=darwin GOARCH=arm64 go build -o /dev/null .
	GOOS=windows GOARCH=amd64 go build -o /dev/null .

torture: ## kill the binary KILLS times under load and look what became of every run
	go run ./torture -kills $(KILLS) -seed $(SEED)

fuzz: ## each fuzz target for FUZZTIME
	@set -e; for package in $$(go list ./...); do \
	  for target in $$(go test -list '^Fuzz' $$package | grep '^Fuzz' || true); do \
	    echo "$$package $$target"; go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $$package; \
	  done; done

e2e: ## the served binary against real clients and servers from npm
	testdata/e2e/run.sh

.PHONY: help build test check lint race bench cross torture fuzz e2e
