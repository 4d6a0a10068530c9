//go:build !unix

package connlimit

import "math"

func fileLimit() uint64 { return math.MaxUint64 }
