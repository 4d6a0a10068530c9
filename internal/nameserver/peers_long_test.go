//go:build long

package nameserver_test

import "testing"

func TestAnswersLikeKnotForLong(t *testing.T) { compareWith(t, "knot", 100_000) }
func TestAnswersLikeNSDForLong(t *testing.T)  { compareWith(t, "nsd", 100_000) }
