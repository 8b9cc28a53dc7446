package recording

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// filler replaces names in a request by the values of the answers of a replay. A name without a
// value stays.
type filler struct {
	names *names
	// objects has the last answer for each UID, for times that a request repeats.
	objects map[string]any
	secrets bool
}

// target fills a path with its query.
func (f *filler) target(target string) string {
	return name.ReplaceAllStringFunc(target, func(name string) string {
		if value, ok := f.names.value(name); ok {
			return url.QueryEscape(value)
		}
		return url.QueryEscape(name)
	})
}

// body fills a body. seen is the value at the same place of the object in the last answer.
func (f *filler) body(key string, value, seen any) any {
	switch value := value.(type) {
	case map[string]any:
		if found := f.lastAnswer(value); found != nil {
			seen = found
		}
		before, _ := seen.(map[string]any)
		result := make(map[string]any, len(value))
		for field, v := range value {
			values, isMap := v.(map[string]any)
			switch {
			case f.secrets && isMap && (field == "data" || field == "stringData"):
				result[field] = f.secretValues(field, values)
			case f.secrets && field == "value":
				result[field] = f.patched(value)
			default:
				result[f.text(field)] = f.body(field, v, before[field])
			}
		}
		return result
	case []any:
		before, _ := seen.([]any)
		result := make([]any, len(value))
		for i := range value {
			var at any
			if i < len(before) {
				at = before[i]
			}
			result[i] = f.body(key, value[i], at)
		}
		return result
	case string:
		return f.field(key, value, seen)
	}
	return value
}

// lastAnswer returns the last answer with the object of a request, nil if there is none.
func (f *filler) lastAnswer(object map[string]any) any {
	metadata, _ := object["metadata"].(map[string]any)
	uid, _ := metadata["uid"].(string)
	return f.objects[f.text(uid)]
}

func (f *filler) field(key, value string, seen any) any {
	switch {
	case value == anyTime:
		if text, ok := seen.(string); ok && timestamp.MatchString(text) {
			return text
		}
		return now(key)
	case key == corev1.LastAppliedConfigAnnotation && f.secrets:
		return f.lastApplied(value)
	}
	filled := f.text(value)
	if key == "nodePort" || key == "healthCheckNodePort" {
		if port, err := strconv.ParseInt(filled, 10, 64); err == nil {
			return port
		}
	}
	return filled
}

// now returns the present time in the format of a field.
func now(key string) string {
	switch key {
	case "renewTime", "acquireTime", "eventTime", "lastObservedTime":
		return time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")
	}
	return time.Now().UTC().Format(time.RFC3339)
}

func (f *filler) text(text string) string {
	text = name.ReplaceAllStringFunc(text, func(name string) string {
		if value, ok := f.names.value(name); ok {
			return value
		}
		return name
	})
	if strings.Contains(text, anyTime) {
		text = strings.ReplaceAll(text, anyTime, now(""))
	}
	return text
}

func (f *filler) lastApplied(text string) string {
	var object any
	if json.Unmarshal([]byte(text), &object) != nil {
		return f.text(text)
	}
	filled, err := marshal(f.body("", object, nil))
	if err != nil {
		return text
	}
	return filled
}

// patched returns the value of an operation of a JSON patch of a Secret.
func (f *filler) patched(operation map[string]any) any {
	path, _ := operation["path"].(string)
	field, key, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	value := operation["value"]
	values, isMap := value.(map[string]any)
	switch {
	case field != "data" && field != "stringData":
		return f.body("value", value, nil)
	case isMap:
		return f.secretValues(field, values)
	}
	return f.secretValues(field, map[string]any{key: value})[key]
}

// secretValues fills the values of a Secret. A value that no answer has shown is a stand-in.
func (f *filler) secretValues(field string, values map[string]any) map[string]any {
	result := make(map[string]any, len(values))
	for key, value := range values {
		result[key] = value
		text, ok := value.(string)
		if !ok || !name.MatchString(text) {
			continue
		}
		f.names.bind(text, secret, standIn(key, text))
		filled, _ := f.names.value(text)
		if field == "stringData" {
			decoded, err := base64.StdEncoding.DecodeString(filled)
			if err == nil {
				filled = string(decoded)
			}
		}
		result[key] = filled
	}
	return result
}

// marshal returns JSON as kubectl writes it into its annotation.
func marshal(value any) (string, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return out.String(), err
}
