//go:build long

package nameserver_test

import "testing"

func TestAnswersLikeKnotLong(t *testing.T) { compareWith(t, "knot", 100_000) }
func TestAnswersLikeNSDLong(t *testing.T)  { compareWith(t, "nsd", 100_000) }
func TestAnswersLikeBINDLong(t *testing.T) { compareWith(t, "bind", 100_000) }

func TestRandomTypesAreServedLikeByKnotLong(t *testing.T) { compareRandomTypes(t, "knot", 60, 200_000) }
func TestRandomTypesAreServedLikeByNSDLong(t *testing.T)  { compareRandomTypes(t, "nsd", 60, 200_000) }
func TestRandomTypesAreServedLikeByBINDLong(t *testing.T) { compareRandomTypes(t, "bind", 60, 200_000) }
