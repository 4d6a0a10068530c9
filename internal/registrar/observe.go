package registrar

import "time"

// observe makes a call and tells Observe of it.
func (r *Router) observe(b Backend, call string, f func() error) error {
	began := time.Now()
	err := f()
	if r.Observe != nil {
		r.Observe(b.Name, call, time.Since(began), err)
	}
	return err
}

// observed is observe for a call with a result.
func observed[T any](r *Router, b Backend, call string, f func() (T, error)) (out T, err error) {
	err = r.observe(b, call, func() error { out, err = f(); return err })
	return out, err
}
