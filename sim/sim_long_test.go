//go:build long

package sim

// usualSeeds is what the long run does.
const usualSeeds = 600
