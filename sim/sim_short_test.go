//go:build !long

package sim

// usualSeeds is what fits into every test run.
const usualSeeds = 60

// delegationSeeds is how many seeds of TestDelegationSimulation do.
const delegationSeeds = 16

// lifeSeeds is how many seeds of TestLifeSimulation do.
const lifeSeeds = 12
