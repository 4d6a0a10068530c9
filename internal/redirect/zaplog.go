package redirect

import (
	"context"
	"log/slog"
	"maps"
	"slices"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// newZapLogger returns a logger for the certificate library that writes to ours. The
// library reports every step of an order, and errors that a stranger can cause with a
// handshake: both are details here. What an operator must know is logged by Certificates.
func newZapLogger(log *slog.Logger) *zap.Logger { return zap.New(zapCore{log}) }

// zapCore implements zapcore.Core on a slog.Logger.
type zapCore struct{ log *slog.Logger }

// Enabled implements zapcore.Core.
func (c zapCore) Enabled(zapcore.Level) bool {
	return c.log.Enabled(context.Background(), slog.LevelDebug)
}

// With implements zapcore.Core.
func (c zapCore) With(fields []zapcore.Field) zapcore.Core {
	return zapCore{c.log.With(attrs(fields)...)}
}

// Check implements zapcore.Core.
func (c zapCore) Check(e zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(e.Level) {
		return checked.AddCore(e, c)
	}
	return checked
}

// Write implements zapcore.Core.
func (c zapCore) Write(e zapcore.Entry, fields []zapcore.Field) error {
	c.log.Debug("certificates: "+e.Message, append(attrs(fields), "part", e.LoggerName, "severity", e.Level.String())...)
	return nil
}

// Sync implements zapcore.Core.
func (zapCore) Sync() error { return nil }

// attrs returns fields as arguments of slog.
func attrs(fields []zapcore.Field) (list []any) {
	values := zapcore.NewMapObjectEncoder()
	for _, f := range fields {
		f.AddTo(values)
	}
	for _, key := range slices.Sorted(maps.Keys(values.Fields)) {
		list = append(list, slog.Any(key, values.Fields[key]))
	}
	return list
}
