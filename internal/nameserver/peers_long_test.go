//go:build long

package nameserver_test

import "testing"

func TestAnswersLikeKnotLong(t *testing.T) { compareWith(t, "knot", 100_000) }
func TestAnswersLikeNSDLong(t *testing.T)  { compareWith(t, "nsd", 100_000) }
func TestAnswersLikeBINDLong(t *testing.T) { compareWith(t, "bind", 100_000) }
