package httpapi

import (
	"net/http"
	"time"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/health"
)

// down is the error of a failed health check.
var down = &deed.Error{
	Code:    deed.CodeUnavailable,
	Message: "something the service cannot work without is down",
	Retry:   2 * time.Second,
}

func (s *Server) health(w http.ResponseWriter, r *http.Request) error {
	report := s.Health.Report(r.Context())
	out := api.Health{
		Status:        string(report.Status),
		Version:       s.Version,
		UptimeSeconds: int64(s.Now().Sub(s.Started).Seconds()),
		Checks:        map[string]api.HealthCheck{},
		Timestamp:     report.At.UTC(),
	}
	for name, part := range report.Parts {
		out.Checks[name] = api.HealthCheck{Status: string(part.Status), LatencyMs: part.Took.Milliseconds()}
	}
	if report.Status == health.Down {
		w.Header().Set("Retry-After", "2")
		e := s.errorBody(w.Header(), http.StatusServiceUnavailable, down)
		s.reply(w, http.StatusServiceUnavailable, api.Unhealthy{Error: e, Health: out})
		return nil
	}
	s.reply(w, http.StatusOK, out)
	return nil
}

// live reports that this process serves requests, and nothing else.
func (s *Server) live(w http.ResponseWriter, _ *http.Request) error {
	s.reply(w, http.StatusOK, api.Status{Status: "ok"})
	return nil
}

// ready reports whether a load balancer should send requests to this node.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) error {
	if s.draining.Load() {
		return deed.Errorf(deed.CodeUnavailable, "this node is about to stop")
	}
	if s.NotReady != nil {
		return s.NotReady
	}
	if s.Health.Report(r.Context()).Status == health.Down {
		return down
	}
	s.reply(w, http.StatusOK, api.Status{Status: "ok"})
	return nil
}
