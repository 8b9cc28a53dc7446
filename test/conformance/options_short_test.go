package conformance

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// lastWrite is a merge patch of an object that all selectors of the recording
// match. Its event ends every watch but those that are ahead.
const lastWrite = `{"metadata":{"labels":{"parity":"even","last":"true"}}}`

var watchParameter = regexp.MustCompile(`[?&]watch=(true|1|yes|&)`)

func isWatch(s *step) bool {
	return strings.Contains(s.Path, "/watch/") || watchParameter.MatchString(s.Path)
}

// isAhead returns whether a watch begins at a revision that is never reached.
func isAhead(s *step) bool { return strings.Contains(s.Path, "resourceVersion=1000000000") }

// eventsBeforeLast returns the short form of the events of a watch until it ends
// or reports the last write.
func (r *optionsReplay) eventsBeforeLast(s *step, answer *http.Response) []any {
	r.t.Helper()
	defer answer.Body.Close()
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	defer context.AfterFunc(ctx, func() { answer.Body.Close() })()
	events := []any{}
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		if bytes.Contains(lines.Bytes(), []byte(`"last":"true"`)) {
			return events
		}
		var event struct {
			Type   string
			Object map[string]any
		}
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			r.t.Fatalf("%s: %v: %s", s.ID, err, lines.Bytes())
		}
		if short := shortEvent(event.Type, event.Object); short != nil {
			events = append(events, short)
		}
	}
	if ctx.Err() != nil {
		r.t.Errorf("%s: the last write is not reported", s.ID)
	}
	return events
}

// shortEvent returns nil for a bookmark that a timer sends.
func shortEvent(eventType string, object map[string]any) any {
	metadata, _ := object["metadata"].(map[string]any)
	switch annotations, _ := metadata["annotations"].(map[string]any); {
	case eventType == "ERROR":
		return map[string]any{"ERROR": object}
	case eventType != "BOOKMARK":
		return eventType + " " + shortObject(object)
	case len(annotations) > 0:
		return fmt.Sprintf("BOOKMARK %v %s", metadata["resourceVersion"], strings.Join(slices.Sorted(maps.Keys(annotations)), " "))
	}
	return nil
}

// shortForm returns the short form of an object, of a list, or a Status as it is.
func shortForm(body map[string]any) any {
	items, isList := body["items"].([]any)
	switch {
	case isList:
		return map[string]any{"metadata": shortMetadata(body["metadata"].(map[string]any)), "items": shortItems(items)}
	case body["kind"] == "Status":
		return body
	}
	return shortObject(body)
}

func shortObject(object map[string]any) string {
	metadata := object["metadata"].(map[string]any)
	return fmt.Sprintf("%v %v", metadata["name"], metadata["resourceVersion"])
}

func shortItems(items []any) []any {
	short := make([]any, len(items))
	for i, item := range items {
		short[i] = shortObject(item.(map[string]any))
	}
	return short
}

func shortMetadata(metadata map[string]any) map[string]any {
	if token, ok := metadata["continue"].(string); ok {
		metadata["continue"] = shortToken(token)
	}
	return metadata
}

// shortToken spells a continue token out. Its key may begin with a slash.
func shortToken(token string) string {
	var content struct {
		RV    int64
		Start string
	}
	data, err := base64.RawURLEncoding.DecodeString(token)
	if err == nil {
		err = json.Unmarshal(data, &content)
	}
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("TOKEN(%d,%s)", content.RV, strings.Trim(content.Start, "/\x00"))
}
