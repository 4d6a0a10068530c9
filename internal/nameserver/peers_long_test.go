//go:build long

package nameserver_test

import "testing"

// One and a half million questions, as many for each server, two at a time.

func TestAnswersLikeKnotLong(t *testing.T) { compareLong(t, "knot") }
func TestAnswersLikeNSDLong(t *testing.T)  { compareLong(t, "nsd") }
func TestAnswersLikeBINDLong(t *testing.T) { compareLong(t, "bind") }

func compareLong(t *testing.T, server string) {
	t.Parallel()
	compareWith(t, server, 100_000)
}

func TestRandomTypesAreServedLikeByKnotLong(t *testing.T) { compareRandomLong(t, "knot") }
func TestRandomTypesAreServedLikeByNSDLong(t *testing.T)  { compareRandomLong(t, "nsd") }
func TestRandomTypesAreServedLikeByBINDLong(t *testing.T) { compareRandomLong(t, "bind") }

func compareRandomLong(t *testing.T, server string) {
	t.Parallel()
	compareRandomTypes(t, server, 60, 200_000)
}

func TestHardZonesAreServedLikeByKnotLong(t *testing.T) { compareHardLong(t, "knot") }
func TestHardZonesAreServedLikeByNSDLong(t *testing.T)  { compareHardLong(t, "nsd") }
func TestHardZonesAreServedLikeByBINDLong(t *testing.T) { compareHardLong(t, "bind") }

func compareHardLong(t *testing.T, server string) {
	t.Parallel()
	compareHardZones(t, server, 100, 200_000)
}
