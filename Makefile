# `make run` starts the service and `make test` tests all of it. Both need only
# Go; what else they need they install from Debian's packages, or say what is
# missing.

.DEFAULT_GOAL := help
SHELL := /bin/bash

help: ## Show this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

run: build ## Build and start the whole service on embedded defaults (ARGS="--listen …")
	@exec bin/deed serve $(ARGS)

build: ## Build bin/deed, with its version
	@scripts/need.sh go ca-certificates
	@scripts/build.sh build -o bin/deed

install: ## Install deed where `go install` puts commands, with its version
	@scripts/need.sh go ca-certificates
	@scripts/build.sh install

fmt: ## Format all Go files
	@gofmt -l -w .

quick: ## Run the tests that need no other servers, on SQLite and memory; a minute or two
	@scripts/quick.sh

test: ## Run all tests, on both databases and both caches; below 15 minutes
	@scripts/test.sh

long: ## Run what takes longer: fuzzing, other platforms and the suites behind the tag "long"
	@scripts/long.sh

failover: ## Cause every fault of a real installation under load, and print what callers saw
	@scripts/failover.sh -v $(ARGS)

bugs: ## Expect the simulator to find each of the known bugs in sim/testdata/bugs; more than an hour
	@scripts/need.sh go ca-certificates
	@go test -tags bugs -count=1 -timeout 6h -v -run TestBugsAreFound ./sim

lint: ## Check format, vet, staticcheck, layers and loggers; print the largest files and functions
	@scripts/need.sh go ca-certificates
	@scripts/lint.sh

bench: ## Print our costs on both databases as ratios to their limits, measured in one run (OUT=file writes them, BASE=file compares)
	@scripts/bench.sh $(if $(OUT),-json $(OUT)) $(if $(BASE),-compare $(BASE)) $(ARGS)

growth: ## Measure the service with 10,000 and 100,000 names on PostgreSQL (SIZES="10000 1000000")
	@scripts/growth.sh

release: ## Build static binaries for every platform into dist/, with checksums, bills of materials and licences
	@scripts/need.sh go ca-certificates
	@scripts/release.sh

image: ## Build the OCI image from scratch into dist/, with buildah
	@scripts/need.sh go ca-certificates buildah
	@scripts/image.sh

.PHONY: help run build install fmt quick test long lint bench bugs failover growth release image
