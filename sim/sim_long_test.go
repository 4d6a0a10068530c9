//go:build long

package sim

// usualSeeds is what the long run does.
const usualSeeds = 600

// delegationSeeds is how many seeds of TestDelegationSimulation it does.
const delegationSeeds = 600

// lifeSeeds is how many seeds of TestLifeSimulation it does.
const lifeSeeds = 300
