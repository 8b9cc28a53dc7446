package recording

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// renderer replaces values by their names.
type renderer struct {
	names *names
	// request is set for the request of a client: its unknown values are the client's choice.
	request bool
	// replay is set if the answer is aligned with a recorded one.
	replay bool
	// since is the beginning of the recording. A later time in a request is a time of the client.
	since time.Time
	// secrets is set if the objects are Secrets.
	secrets bool
	// dates are the columns of a Table that contain ages. The rows of a watch have no columns
	// except in the first event.
	dates []bool
}

var (
	uuid      = regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)
	jwt       = regexp.MustCompile(`\beyJ[\w-]+\.[\w-]+\.[\w-]+`)
	timestamp = regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`)
	duration  = regexp.MustCompile(`^(\d+[ydhms])+$`)
	portPair  = regexp.MustCompile(`:\d+/`)
)

// value returns a JSON value with names.
func (r *renderer) value(key string, value any) any {
	switch value := value.(type) {
	case map[string]any:
		return r.object(key, value)
	case []any:
		list := make([]any, len(value))
		for i := range value {
			list[i] = r.value(key, value[i])
		}
		return list
	case string:
		return r.field(key, value)
	case int64:
		if value != 0 && (key == "nodePort" || key == "healthCheckNodePort") {
			if named := r.named(nodePort, fmt.Sprint(value)); name.MatchString(named) {
				return named
			}
		}
	}
	return value
}

func (r *renderer) object(key string, object map[string]any) any {
	if key == "metadata" {
		r.nameOf(object)
	}
	if object["kind"] == "Table" {
		r.table(object)
	}
	result := make(map[string]any, len(object))
	for _, field := range slices.Sorted(maps.Keys(object)) { // names are numbered in this order
		value := object[field]
		values, isMap := value.(map[string]any)
		switch {
		case field == "managedFields" && key == "metadata":
			result[field] = r.value(field, sorted(value))
		case field == "resourceVersion" && isListMetadata(key, object):
			result[field] = r.listVersion(value)
		case r.secrets && isMap && (field == "data" || field == "stringData"):
			result[field] = r.secretValues(field, values)
		case r.secrets && field == "value" && secretPath.MatchString(fmt.Sprint(object["path"])):
			result[field] = r.patched(fmt.Sprint(object["path"]), value)
		case field == "cells" && r.dates != nil:
			result[field] = r.cells(value)
		default:
			result[r.text(field)] = r.value(field, value)
		}
	}
	return result
}

// nameOf names the generated part of the name of an object.
func (r *renderer) nameOf(metadata map[string]any) {
	prefix, _ := metadata["generateName"].(string)
	full, _ := metadata["name"].(string)
	if suffix, ok := strings.CutPrefix(full, prefix); ok && prefix != "" && suffix != "" && !r.request {
		r.names.of(objectName, suffix)
	}
}

// isListMetadata reports whether an object is the metadata of a list or of a bookmark.
func isListMetadata(key string, object map[string]any) bool {
	return key == "metadata" && object["name"] == nil && object["uid"] == nil
}

func (r *renderer) listVersion(value any) any {
	text, ok := value.(string)
	if !ok || text == "" || text == "0" || r.request {
		return value
	}
	if r.replay {
		return r.names.of(listVersion, text)
	}
	return r.names.fresh(listVersion, text) // another list of the same revision is a coincidence
}

// field returns a string in a field.
func (r *renderer) field(key, value string) string {
	switch {
	case key == "resourceVersion" && value != "" && value != "0":
		if r.request {
			named, _ := r.names.lookup(value, resourceVersion, listVersion)
			return named
		}
		return r.names.of(resourceVersion, value)
	case key == "continue" && value != "":
		return r.names.of(continueToken, value)
	case key == "token" && r.request && value != "":
		return r.names.of(token, value)
	case (key == "clusterIP" || key == "clusterIPs") && net.ParseIP(value) != nil:
		return r.named(address, value)
	case key == corev1.LastAppliedConfigAnnotation:
		return r.lastApplied(value)
	}
	return r.text(value)
}

// named returns the name of a value. An unknown value in a request is the client's choice.
func (r *renderer) named(c class, value string) string {
	if r.request {
		r.names.choose(c, value)
		named, _ := r.names.lookup(value, c)
		return named
	}
	return r.names.of(c, value)
}

var (
	versionParameter  = regexp.MustCompile(`([?&]resourceVersion=)([^&]+)`)
	continueParameter = regexp.MustCompile(`([?&]continue=)([^&]+)`)
)

// target returns a path with its query.
func (r *renderer) target(target string) string {
	target = versionParameter.ReplaceAllStringFunc(target, func(found string) string {
		parameter, value, _ := strings.Cut(found, "=")
		named, _ := r.names.lookup(value, listVersion, resourceVersion)
		return parameter + "=" + named
	})
	target = continueParameter.ReplaceAllStringFunc(target, func(found string) string {
		parameter, value, _ := strings.Cut(found, "=")
		if decoded, err := url.QueryUnescape(value); err == nil {
			value = decoded
		}
		named, ok := r.names.lookup(value, continueToken)
		if !ok {
			return found
		}
		return parameter + "=" + named
	})
	return r.text(target)
}

// text replaces the values in a string.
func (r *renderer) text(text string) string {
	text = uuid.ReplaceAllStringFunc(text, func(found string) string { return r.named(uid, found) })
	text = jwt.ReplaceAllStringFunc(text, func(found string) string { return r.names.of(token, found) })
	text = timestamp.ReplaceAllStringFunc(text, r.time)
	return r.names.replaceTexts(text)
}

// time returns the name of a time. A time of a request that no server has sent and that is before
// the recording is the client's choice.
func (r *renderer) time(text string) string {
	_, sent := r.names.lookup(text, moment)
	at, err := time.Parse(time.RFC3339Nano, text)
	if r.request && !sent && (err != nil || at.Before(r.since.Add(-time.Second))) {
		r.names.choose(moment, text)
		return text
	}
	return r.names.time(text)
}

// lastApplied returns the annotation of kubectl apply, which contains an object as JSON.
func (r *renderer) lastApplied(text string) string {
	var object any
	if !r.secrets || json.Unmarshal([]byte(text), &object) != nil {
		return r.text(text)
	}
	named, err := marshal(r.value("", object))
	if err != nil {
		return anyValue
	}
	return named
}

// anyValue replaces a value of a Secret that cannot be read.
const anyValue = "<redacted>"

// secretPath matches a path of a JSON patch that is a value of a Secret or contains some.
var secretPath = regexp.MustCompile(`^(/(data|stringData)(/|$))|^$`)

// patched returns the value of an operation of a JSON patch of a Secret.
func (r *renderer) patched(path string, value any) any {
	field, key, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if values, ok := value.(map[string]any); ok {
		if field == "" {
			return r.value("", value)
		}
		return r.secretValues(field, values)
	}
	return r.secretValues(field, map[string]any{key: value})[key]
}

// secretValues names the values of a Secret.
func (r *renderer) secretValues(field string, values map[string]any) map[string]any {
	result := make(map[string]any, len(values))
	for _, key := range slices.Sorted(maps.Keys(values)) {
		value := values[key]
		result[key] = value
		if text, ok := value.(string); ok && text != "" {
			if field == "stringData" {
				text = base64.StdEncoding.EncodeToString([]byte(text))
			}
			result[key] = r.names.of(secret, text)
		}
	}
	return result
}

// table finds the columns with ages.
func (r *renderer) table(table map[string]any) {
	columns, _ := table["columnDefinitions"].([]any)
	if len(columns) == 0 {
		return
	}
	r.dates = make([]bool, len(columns))
	for i, column := range columns {
		definition, _ := column.(map[string]any)
		title, _ := definition["name"].(string)
		r.dates[i] = definition["type"] == "date" || slices.Contains([]string{"Age", "First Seen", "Last Seen", "Duration", "Last Schedule"}, title)
	}
}

func (r *renderer) cells(value any) any {
	cells, _ := value.([]any)
	result := make([]any, len(cells))
	for i, cell := range cells {
		result[i] = r.value("", cell)
		text, ok := cell.(string)
		if !ok {
			continue
		}
		if i < len(r.dates) && r.dates[i] && duration.MatchString(text) {
			result[i] = anyAge
			continue
		}
		result[i] = portPair.ReplaceAllStringFunc(r.text(text), func(port string) string {
			named, _ := r.names.lookup(strings.Trim(port, ":/"), nodePort)
			return ":" + named + "/"
		})
	}
	return result
}

// sorted returns managedFields in the order of managers. A server sorts them by time in seconds.
func sorted(value any) any {
	entries, ok := value.([]any)
	if !ok {
		return value
	}
	key := func(entry any) string {
		e, _ := entry.(map[string]any)
		return fmt.Sprint(e["manager"], " ", e["operation"], " ", e["subresource"], " ", e["apiVersion"])
	}
	return slices.SortedStableFunc(slices.Values(entries), func(a, b any) int { return strings.Compare(key(a), key(b)) })
}
