# Two commands do everything: `make run` and `make test`. Both need only Go; what
# else they need they install from Debian's packages, or say what is missing.

.DEFAULT_GOAL := help
SHELL := /bin/bash

help: ## Show this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-7s %s\n", $$1, $$2}'

run: ## Build and start the whole service on embedded defaults (ARGS="--listen …")
	@scripts/need.sh go ca-certificates
	@go build -o bin/deed ./cmd/deed
	@exec bin/deed serve $(ARGS)

test: ## Run all tests, on both databases and both caches; below 15 minutes
	@scripts/test.sh

long: ## Run what takes longer: fuzzing and the suites behind the tag "long"
	@scripts/long.sh

lint: ## Check format, vet, staticcheck, floors and loggers; print the largest files and functions
	@scripts/need.sh go ca-certificates
	@scripts/lint.sh

bench: ## Print our costs as ratios to their limits, measured in one run
	@scripts/need.sh go ca-certificates
	@go run ./bench

.PHONY: help run test long lint bench
