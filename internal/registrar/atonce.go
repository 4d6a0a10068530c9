package registrar

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
)

// AtOnce calls f for all backends at the same time, so that none waits for another, and
// returns their errors. A panic, as over a reply that nobody expected, is an error of its
// backend and does not end the process.
func AtOnce(backends []Backend, f func(b Backend) error) error {
	errs := make([]error, len(backends))
	var all sync.WaitGroup
	for i, b := range backends {
		all.Go(func() {
			defer func() {
				if v := recover(); v != nil {
					errs[i] = fmt.Errorf("registrar %s: panic: %v\n%s", b.Name, v, debug.Stack())
				}
			}()
			errs[i] = f(b)
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
