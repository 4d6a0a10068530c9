package api

import "time"

// Health is the state of the service and of what it stands on.
type Health struct {
	Status        string                 `json:"status"`
	Version       string                 `json:"version"`
	UptimeSeconds int64                  `json:"uptimeSeconds"`
	Checks        map[string]HealthCheck `json:"checks"`
	Timestamp     time.Time              `json:"timestamp"`
}

// HealthCheck is the state of one thing the service stands on.
type HealthCheck struct {
	Status    string `json:"status"`
	LatencyMs int64  `json:"latencyMs"`
}

// Unhealthy is the body of a 503 of /health: an Error that is a Health too.
type Unhealthy struct {
	Error
	Health
}

// Status is the body of /livez and /readyz.
type Status struct {
	Status string `json:"status"`
}
