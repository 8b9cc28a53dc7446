package conformance

import (
	"encoding/json"
	"regexp"
	"strings"
)

// recordedTime matches a time of the recorded server, which a request repeats from a response.
var recordedTime = regexp.MustCompile(`^2026-11-20T\d\d:\d\d:\d\dZ$`)

// objectOf returns the object in a response, nil if the response is not an object with a uid.
func objectOf(response string) map[string]any {
	if !strings.Contains(response, `"uid"`) {
		return nil
	}
	var object map[string]any
	if json.Unmarshal([]byte(response), &object) != nil || nameOf(object) == "" {
		return nil
	}
	return object
}

func nameOf(object map[string]any) string {
	metadata, _ := object["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	return name
}

// fillObjectTimes replaces recorded times in a request by the times of the same fields in the
// latest response with the object, so that a request that repeats an object changes nothing.
func fillObjectTimes(body string, latest map[string]any) string {
	if latest == nil || !strings.Contains(body, `"2026-11-20T`) {
		return body
	}
	var object map[string]any
	decoder := json.NewDecoder(strings.NewReader(body))
	decoder.UseNumber()
	if decoder.Decode(&object) != nil || nameOf(object) != nameOf(latest) {
		return body
	}
	fillTimes(object, latest)
	filled, err := json.Marshal(object)
	if err != nil {
		return body
	}
	return string(filled)
}

// fillTimes replaces the recorded times inside of value by the times at the same place of latest.
func fillTimes(value, latest any) {
	switch value := value.(type) {
	case map[string]any:
		known, _ := latest.(map[string]any)
		for name, field := range value {
			text, isText := field.(string)
			if now, ok := known[name].(string); ok && isText && recordedTime.MatchString(text) {
				value[name] = now
			} else {
				fillTimes(field, known[name])
			}
		}
	case []any:
		known, _ := latest.([]any)
		for i, item := range value {
			fillTimes(item, counterpart(known, i, item))
		}
	}
}

// counterpart returns the item of list with the same keys as item, or else at the same index.
// Conditions and managedFields have keys.
func counterpart(list []any, i int, item any) any {
	object, _ := item.(map[string]any)
	for _, other := range list {
		if o, ok := other.(map[string]any); ok && hasKeys(object) && sameKeys(o, object) {
			return other
		}
	}
	if i < len(list) {
		return list[i]
	}
	return nil
}

func hasKeys(object map[string]any) bool { return object["type"] != nil || object["manager"] != nil }

func sameKeys(a, b map[string]any) bool {
	for _, key := range []string{"type", "manager", "operation", "apiVersion", "subresource"} {
		if a[key] != b[key] {
			return false
		}
	}
	return true
}
