package zaplog

import (
	"log/slog"
	"maps"
	"slices"
	"time"

	"go.uber.org/zap/zapcore"
)

// attributes converts zap's fields into attributes, in their order. The fields after a
// namespace form a group of that name.
func attributes(fields []zapcore.Field) []slog.Attr {
	attrs := make([]slog.Attr, 0, len(fields))
	for i, field := range fields {
		if field.Type == zapcore.NamespaceType {
			inner := slog.GroupValue(attributes(fields[i+1:])...)
			return append(attrs, slog.Attr{Key: field.Key, Value: inner})
		}
		if attr, ok := attribute(field); ok {
			attrs = append(attrs, attr)
		}
	}
	return attrs
}

// attribute converts one field into an attribute. Common types are converted directly, the
// others with zap's encoder. It returns false for a field that zap skips.
func attribute(field zapcore.Field) (slog.Attr, bool) {
	switch field.Type {
	case zapcore.SkipType:
		return slog.Attr{}, false
	case zapcore.StringType:
		return slog.String(field.Key, field.String), true
	case zapcore.BoolType:
		return slog.Bool(field.Key, field.Integer == 1), true
	case zapcore.Int64Type, zapcore.Int32Type, zapcore.Int16Type, zapcore.Int8Type:
		return slog.Int64(field.Key, field.Integer), true
	case zapcore.DurationType:
		return slog.Duration(field.Key, time.Duration(field.Integer)), true
	case zapcore.ErrorType:
		if err, ok := field.Interface.(error); ok {
			return slog.Any(field.Key, err), true
		}
	}
	encoder := zapcore.NewMapObjectEncoder()
	field.AddTo(encoder)
	if value, ok := encoder.Fields[field.Key]; ok {
		return slog.Any(field.Key, value), true
	}
	attrs := make([]slog.Attr, 0, len(encoder.Fields))
	for _, key := range slices.Sorted(maps.Keys(encoder.Fields)) {
		attrs = append(attrs, slog.Any(key, encoder.Fields[key]))
	}
	return slog.Attr{Value: slog.GroupValue(attrs...)}, len(attrs) > 0
}
