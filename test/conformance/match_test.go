package conformance

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// placeholder matches the parts of a recorded string that differ from run to run.
var placeholder = regexp.MustCompile(`\b(UID\d+|RV\d+|LRV|RV|CONTINUE|TIME|SVCIP|NODEPORT|AGE|HOST|PORT|JWT|N)\b|RAND`)

var ordinal = regexp.MustCompile(`\b(UID|RV)\d+\b`)

// bindings map the ordinals of a chain to their values in this run.
type bindings map[string]string

// fill replaces known ordinals in a request. An ordinal that no response has shown was made up
// by the recorder, and stays.
func (b bindings) fill(text string) string {
	text = ordinal.ReplaceAllStringFunc(text, func(name string) string {
		if value, ok := b[name]; ok {
			return value
		}
		return name
	})
	return sample.Replace(text)
}

// fillKeys fills the names of fields: names in managed fields contain uids.
func (b bindings) fillKeys(object map[string]any) map[string]any {
	filled := make(map[string]any, len(object))
	for name, value := range object {
		filled[b.fill(name)] = value
	}
	return filled
}

// sample has a value for each placeholder that a recorded request repeats from a recorded
// response.
var sample = strings.NewReplacer(
	`"TIME"`, `"2026-01-02T03:04:05Z"`,
	`"NODEPORT"`, `30500`,
	`"N"`, `"1"`,
	`"AGE"`, `"500m"`, // a quantity that looks like an age
	`SVCIP`, `10.0.0.77`,
)

// enumeration matches texts that kube-apiserver assembles from a map or a set of errors, in
// random order.
var enumeration = regexp.MustCompile(`(?s)^(.*(?: is invalid: \[|strict decoding error: ))(.*?)(\]?)$`)

// ordered sorts the items of an enumeration, as the recorder did.
func ordered(text string) string {
	parts := enumeration.FindStringSubmatch(text)
	if parts == nil {
		return text
	}
	items := strings.Split(parts[2], ", ")
	slices.Sort(items)
	return parts[1] + strings.Join(items, ", ") + parts[3]
}

// years matches the age of an object that a request dates years back. It grows by a day every
// day.
var years = regexp.MustCompile(`^\d+y(\d+d)?$`)

type difference struct{ path, text string }

func (d difference) String() string { return d.path + ": " + d.text }

// matcher compares a response with the recorded one.
type matcher struct {
	bound bindings
	found []difference
}

func (m *matcher) differ(path, format string, args ...any) {
	m.found = append(m.found, difference{path: path, text: fmt.Sprintf(format, args...)})
}

// match compares values as encoding/json decodes them into any.
func (m *matcher) match(path string, want, got any) {
	switch want := want.(type) {
	case map[string]any:
		m.matchObject(path, want, got)
	case []any:
		m.matchList(path, want, got)
	case string:
		m.matchString(path, want, got)
	default:
		if !reflect.DeepEqual(want, got) {
			m.differ(path, "want %v, got %v", want, got)
		}
	}
}

func (m *matcher) matchObject(path string, want map[string]any, value any) {
	got, ok := value.(map[string]any)
	if !ok {
		m.differ(path, "want an object, got %v", value)
		return
	}
	want = m.bound.fillKeys(want)
	for _, name := range slices.Sorted(maps.Keys(want)) {
		at := path + "." + name
		if name == "managedFields" && strings.HasSuffix(path, ".metadata") {
			m.matchManagers(at, want[name], got[name])
			continue
		}
		if _, ok := got[name]; !ok {
			m.differ(at, "missing")
			continue
		}
		m.match(at, inOrder(name, want[name]), inOrder(name, got[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[name]; !ok {
			m.differ(path+"."+name, "not in the recording: %v", got[name])
		}
	}
}

// inOrder sorts conditions by type, as the recorder did.
func inOrder(name string, value any) any {
	list, ok := value.([]any)
	if !ok || name != "conditions" {
		return value
	}
	typeOf := func(condition any) string {
		c, _ := condition.(map[string]any)
		return fmt.Sprint(c["type"])
	}
	return slices.SortedFunc(slices.Values(list), func(a, b any) int { return strings.Compare(typeOf(a), typeOf(b)) })
}

// matchManagers compares managedFields regardless of their order. They are sorted by time in
// seconds, and the recorder took longer between requests.
func (m *matcher) matchManagers(path string, want, got any) {
	wanted, found := byManager(want), byManager(got)
	for _, manager := range slices.Sorted(maps.Keys(wanted)) {
		entry, ok := found[manager]
		if !ok {
			m.differ(path, "no entry %s", manager)
			continue
		}
		m.match(path+"["+manager+"]", wanted[manager], entry)
	}
	for _, manager := range slices.Sorted(maps.Keys(found)) {
		if _, ok := wanted[manager]; !ok {
			m.differ(path, "an entry %s: %v", manager, found[manager])
		}
	}
}

func byManager(entries any) map[string]any {
	list, _ := entries.([]any)
	found := map[string]any{}
	for _, entry := range list {
		e, _ := entry.(map[string]any)
		found[fmt.Sprint(e["manager"], " ", e["operation"], " ", e["apiVersion"], " ", e["subresource"])] = entry
	}
	return found
}

func (m *matcher) matchList(path string, want []any, value any) {
	got, ok := value.([]any)
	if !ok || len(got) != len(want) {
		m.differ(path, "want a list of %d, got %v", len(want), value)
		return
	}
	for i := range want {
		m.match(fmt.Sprintf("%s[%d]", path, i), want[i], got[i])
	}
}

// matchString takes the recorded string as a pattern: an ordinal stands for the same value each
// time, another placeholder for any value.
func (m *matcher) matchString(path, want string, value any) {
	if strings.HasPrefix(want, "SVCIP") || strings.HasPrefix(want, "NODEPORT") || want == "N" || want == "PORT" {
		return // numbers too
	}
	got, ok := value.(string)
	if !ok {
		if want != "AGE" && want != "LRV" {
			m.differ(path, "want %q, got %v", want, value)
		}
		return
	}
	want, got = ordered(want), ordered(got)
	if want == got || years.MatchString(want) && years.MatchString(got) {
		return
	}
	names := placeholder.FindAllString(want, -1)
	if names == nil {
		m.differ(path, "want %q, got %q", want, got)
		return
	}
	pattern := "^" + placeholder.ReplaceAllString(regexp.QuoteMeta(want), `(.*?)`) + "$"
	values := regexp.MustCompile("(?s)" + pattern).FindStringSubmatch(got)
	if values == nil {
		m.differ(path, "want %q, got %q", want, got)
		return
	}
	for i, name := range names {
		m.bind(path, name, values[i+1])
	}
}

// bind checks that an ordinal has the same value as before, and that no other ordinal has it.
func (m *matcher) bind(path, name, value string) {
	if !ordinal.MatchString(name) {
		return
	}
	if known, ok := m.bound[name]; ok {
		if known != value {
			m.differ(path, "want %s (%s), got %s", name, known, value)
		}
		return
	}
	for other, known := range m.bound {
		if known == value && other[:2] == name[:2] {
			m.differ(path, "want a new %s, got %s which is %s", name, value, other)
			return
		}
	}
	m.bound[name] = value
}
