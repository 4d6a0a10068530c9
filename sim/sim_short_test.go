//go:build !long

package sim

// usualSeeds is what fits into every test run.
const usualSeeds = 60
