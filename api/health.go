package api

import "time"

// Health is the state of the service and of its dependencies.
type Health struct {
	Status        string                 `json:"status"`
	Version       string                 `json:"version"`
	UptimeSeconds int64                  `json:"uptimeSeconds"`
	Checks        map[string]HealthCheck `json:"checks"`
	Timestamp     time.Time              `json:"timestamp"`
}

// HealthCheck is the state of one dependency.
type HealthCheck struct {
	Status    string `json:"status"`
	LatencyMs int64  `json:"latencyMs"`
}

// Unhealthy is the body of a 503 of /health: an Error and a Health.
type Unhealthy struct {
	Error
	Health
}

// Status is the body of /livez and /readyz.
type Status struct {
	Status string `json:"status"`
}
