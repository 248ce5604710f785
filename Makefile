# What CI runs is `make check` and `make e2e`; both work on a fresh machine.

export CGO_ENABLED ?= 0
FUZZTIME ?= 60s
KILLS ?= 100
FAULTS ?= 200
SEED ?= 1
CUTS ?= 500
FILLS ?= 500
SEEDS ?= 100000
PYTHON ?= /usr/bin/python3

help: ## list the targets
	@grep -E '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

build: ## build ./blueprintd, statically linked
	go build -trimpath -tags urfave_cli_no_docs -ldflags='-s -w' -o blueprintd .

test: ## all tests that need nothing but Go
	go test ./...

goldens: ## write the generated files: catalogue, procedures, OpenAPI, JSON Schemas, TypeScript types, the errors of validate, pages of the documentation, all log messages and error texts
	go test ./engine/nodes -run '^TestCatalogue$$' -update
	go test ./rpc -run NodeTypes -update
	go test ./command -run '^(TestCorpus|TestHelp)$$' -update
	go test ./tests/api -run OpenAPI -update
	go test ./project -run Schemas -update
	go test ./rpc/trpc -run RouterType -update
	go test ./tests/describe -run 'Procedures|Pages|Kinds' -update
	go test ./tests/words -run Sentences -update

check: lint web-lint web-test race thorough bench-once cross sim-check ## everything CI runs besides go test, fuzzing and the end-to-end tests

lint: ## gofmt, go vet, staticcheck, plain words, a tidy go.mod
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "hint: run gofmt -w on these files"; exit 1; }
	go vet ./...
	go vet -tags mutant ./foundation/mutant ./engine ./store
	go tool staticcheck ./...
	go run ./tests/words
	go mod tidy -diff
	go mod verify

# The tests left out store much, one statement after the other.
race: ## the tests in random order under the race detector
	CGO_ENABLED=1 go test -race -shuffle=on -timeout 20m -skip '^Test(History|FileShrinks|AccountLimits|FindFiringsCost|DiskLimit|CrashWhilePruning|MutatedDatabases)$$' ./...

thorough: ## the tests that go test ./... runs with few repetitions or small inputs, in full
	go test -count 1 -timeout 20m ./tests/api -run '^Test(Sweep|Bombs|LargeGraphs|DenseWebhooksAreAllTaken)$$' -thorough
	go test -count 1 -timeout 20m ./store -run '^Test(UpgradeWithFaults|ListRuns)$$' -thorough
	go test -count 1 -timeout 20m ./engine/script -run '^TestBombs$$' -thorough
	go test -count 1 -timeout 20m ./clients/go/blueprintdtest -run '^TestManyServersLeaveNone$$' -thorough
	go test -count 1 -timeout 20m ./triggers -run '^TestOutagesAtRandom$$' -outages 2000
	go test -count 1 -timeout 20m ./tests/simulation -run '^TestSeedsReplayExactly$$' -replays 200
	go test -count 1 -timeout 20m ./tests/e2e -run '^Test(Seeded|Killed(Backup|Restore)$$|SyncKilled$$)' -thorough

bench: ## measure the server beside the limits of this machine; BENCH="-write docs/benchmarks.md" keeps the figures
	go run ./tests/bench $(BENCH)

bench-peers: ## the same webhook side by side with Node-RED, n8n, PocketBase and Temporal (needs Go, npm and a C++ compiler; 2 GB, ten minutes to install)
	go run ./tests/bench -peers $(BENCH)

bench-postgresql: ## the same webhook on a file and on PostgreSQL with one to three processes, beside River, n8n in queue mode and Temporal, and fail-overs (as root it installs Debian's packages; 3 GB, half an hour to install)
	.ci/postgres bench $(BENCH)

bench-once: ## each Go benchmark once
	go test -run '^$$' -bench . -benchtime 1x ./...

bench-history: ## compare a thousand stored runs with a million: reading, starting, pruning; and a hundred thousand schedules (ten minutes, 3 GB in /tmp)
	go test -count 1 -run '^TestHistory$$' -v -timeout 1h ./store -history 1000000 -history-blueprints 10000 -history-kept 10000 -history-load 10s -history-rounds 25
	go test -count 1 -run '^TestIdleSchedules$$' -v ./triggers -schedules 100000 -idle 65s

cross: ## build for the other platforms
	GOOS=linux GOARCH=arm64 go build -o /dev/null .
	GOOS=darwin GOARCH=arm64 go build -o /dev/null .
	GOOS=windows GOARCH=amd64 go build -o /dev/null .

sim: ## simulate SEEDS worlds, from SEED on: engine and scheduler under random faults
	cd tests/simulation && go test -run '^TestSeeds$$' -timeout 24h -seeds $(SEEDS) -seed $(SEED)

sim-check: ## simulate ten thousand worlds
	@$(MAKE) --no-print-directory sim SEEDS=10000

oracle: ## compare the ticks of ten years in every zone with croniter (Debian's python3-croniter; some minutes)
	@$(PYTHON) -c 'import croniter' 2>/dev/null || { echo "$(PYTHON) has no croniter"; echo "hint: apt-get install python3-croniter, or PYTHON=... for another Python that has it"; exit 1; }
	@log=$$(mktemp); go test -count 1 -run '^TestCroniter' -v -timeout 1h ./triggers/cron -croniter $(PYTHON) >$$log; status=$$?; \
		grep -v -e '^=== ' -e '^ *--- PASS.*/' $$log; rm -f $$log; exit $$status

torture: ## kill the executable KILLS times under load and check every run
	go run ./tests/crash -kills $(KILLS) -seed $(SEED)

torture-cluster: ## FAULTS faults of three processes, their links and PostgreSQL under load (Debian's PostgreSQL; a second or two each)
	go run ./tests/cluster -faults $(FAULTS) -seed $(SEED)

torture-cluster-selftest: ## check that the torture of three processes finds each of their known mutants (half an hour)
	go run ./tests/cluster -selftest -faults 60 -seed $(SEED)

sweep: ## fail the disk at every point of a scenario: kill, EIO, ENOSPC, short write (Linux, as root; half an hour)
	go run ./tests/faults -seed $(SEED)

sweep-short: ## a part of the points and of the power cuts, in some minutes
	go run ./tests/faults -every 25 -seed $(SEED)
	go run ./tests/faults -cuts 30 -seed $(SEED)

powercut: ## cut the power CUTS times under several clients
	go run ./tests/faults -cuts $(CUTS) -seed $(SEED)

diskfull: ## fill the disk and free it FILLS times under several clients: reads continue, nothing is lost
	go run ./tests/faults -full $(FILLS) -seed $(SEED)

torture-selftest: ## check that the torture finds each of the known mutants
	go run ./tests/crash -selftest -seed $(SEED)

overload: ## load the executable far beyond its capacity and check how it behaves
	go run ./tests/overload -seed $(SEED)

mutants: ## open 1,000 damaged databases like a server
	go test ./store -run TestMutatedDatabases -count 1 -v -mutants 1000

mutation: ## mutation testing of security-relevant packages: the tests kill at least 90 % of the covered mutants (an hour)
	.ci/mutation

fuzz: ## each fuzz target for FUZZTIME, one worker each
	@FUZZTIME=$(FUZZTIME) .ci/fuzz

clients: ## build clients/typescript/dist, which the executable embeds (needs Node and npm)
	cd clients/typescript && npm ci --loglevel=error && npm run --silent build

release: ## archives of VERSION for every platform, deb and rpm packages, an SBOM and checksums in dist/; SIGNING_KEY=file signs them
	go run ./packaging/release -version "$(VERSION)" -signing-key "$(SIGNING_KEY)"

image: ## fill dist/image for packaging/Containerfile
	packaging/image.sh dist/image

release-check: ## check that a release built and signed twice is the same
	@set -e; folder=$$(mktemp -d); trap 'rm -rf "$$folder"' EXIT; ssh-keygen -q -t ed25519 -N '' -f "$$folder/key"; \
	for time in first second; do go run ./packaging/release -version "$(or $(VERSION),0.0.0)" -signing-key "$$folder/key" -out "$$folder/$$time"; done; \
	diff -r "$$folder/first" "$$folder/second"; \
	cd "$$folder/first" && sha256sum --check --quiet SHA256SUMS && echo "two releases, the same files"

unit-score: ## the exposure level of packaging/blueprintd.service by systemd-analyze; more than 1.5 fails
	@command -v systemd-analyze >/dev/null || { echo "systemd-analyze is missing; install systemd to score the unit"; exit 1; }
	@systemd-analyze security --offline=true --no-pager --threshold=15 packaging/blueprintd.service

postgres: ## the tests of the store, of several processes and of the API, those with real clients and a browser, and the overload on PostgreSQL (as root it installs Debian's packages)
	.ci/postgres all

e2e: web-test web-dist ## test the executable with real clients, servers and a browser; the store and several processes on PostgreSQL
	.ci/postgres
	testdata/e2e/run.sh

e2e-browser: ## test the dashboard in Debian's Chromium and Firefox; SCREENSHOTS=folder stores a picture of every page
	cd testdata/e2e && ./run.sh browser/*.test.mjs

web-lint: ## types, circular imports, ESLint and Prettier in web/ (needs Node and npm)
	web/scripts/install.sh
	@cd web && npm run --silent check

web-test: ## the tests of web/: modules, panels and forms
	web/scripts/install.sh
	@log=$$(mktemp); (cd web && npm test --silent) >$$log 2>&1 && rm -f $$log || { cat $$log; rm -f $$log; exit 1; }

web-dist: ## check that web/dist is built from web/
	web/scripts/verify.sh

web-check: web-lint web-test web-dist ## all checks of web/

pictures: ## make every picture of the README and the documentation (needs Node and Chromium; measures for some minutes on a quiet machine)
	testdata/e2e/run.sh pictures.mjs
	go run ./tests/bench -day docs/latency.svg -write docs/benchmarks.md

e2e-mail: ## swaks and Postfix, installed by apt, send mail to the binary (Debian or Ubuntu, as root)
	DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends swaks libnet-ssleay-perl postfix
	testdata/e2e/run.sh mail/receive.test.mjs

.PHONY: pictures thorough goldens diskfull image oracle e2e-mail e2e-browser web-lint web-test web-dist web-check mutants sweep sweep-short powercut sim sim-check release release-check clients unit-score help build test check lint race bench bench-history bench-peers bench-postgresql bench-once cross torture torture-cluster torture-cluster-selftest torture-selftest overload fuzz e2e
