package recording

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// class is a class of values that differ from run to run.
type class string

const (
	uid             class = "uid"
	resourceVersion class = "resourceVersion"
	listVersion     class = "listVersion" // the resourceVersion of a list or a bookmark
	objectName      class = "name"        // the generated part of a name
	address         class = "ip"
	nodePort        class = "nodePort"
	continueToken   class = "continue"
	token           class = "token"
	secret          class = "secret" // in base64

	moment class = "time" // <time>, without a number

	anyTime = "<time>"
	anyAge  = "<age>"
)

// name matches the name of a value.
var name = regexp.MustCompile(`<(uid|resourceVersion|listVersion|name|ip|nodePort|continue|token|secret)-(\d+)>`)

// known is a value of a class.
type known struct {
	class class
	value string
}

// names are the names of values. They can be used by several goroutines.
type names struct {
	mu       sync.Mutex // guards the fields below
	values   map[string]string
	names    map[known]string
	next     map[class]int
	literals map[known]bool // values that a client has chosen
	texts    []known        // values that are also parts of other strings, the longest first
	added    chan struct{}  // closed at the next new name
}

func newNames() *names {
	return &names{
		values: map[string]string{}, names: map[known]string{}, next: map[class]int{},
		literals: map[known]bool{}, added: make(chan struct{}),
	}
}

// reserve keeps the names in a text from values that are not aligned with them.
func (n *names) reserve(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, found := range name.FindAllStringSubmatch(text, -1) {
		number, _ := strconv.Atoi(found[2])
		n.next[class(found[1])] = max(n.next[class(found[1])], number)
	}
}

// of returns the name of a value, a new one if it has none. A value that a client has chosen is
// returned itself.
func (n *names) of(c class, value string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.literals[known{c, value}] {
		return value
	}
	if name, ok := n.names[known{c, value}]; ok {
		return name
	}
	return n.create(c, value)
}

// fresh returns a new name for a value, also if it has one.
func (n *names) fresh(c class, value string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.create(c, value)
}

// create adds a new name. The caller holds mu.
func (n *names) create(c class, value string) string {
	n.next[c]++
	name := fmt.Sprintf("<%s-%d>", c, n.next[c])
	n.add(name, known{c, value})
	return name
}

// add adds a name. The caller holds mu.
func (n *names) add(name string, k known) {
	n.values[name], n.names[k] = k.value, name
	if k.class == objectName || k.class == address {
		n.texts = append(n.texts, k)
		slices.SortStableFunc(n.texts, func(a, b known) int { return cmp.Compare(len(b.value), len(a.value)) })
	}
	close(n.added)
	n.added = make(chan struct{})
}

// lookup returns the name of a value of one of the classes.
func (n *names) lookup(value string, classes ...class) (string, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range classes {
		if name, ok := n.names[known{c, value}]; ok {
			return name, true
		}
	}
	return value, false
}

// time returns the name of a time, and notes that a side of the recording has sent it.
func (n *names) time(text string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.literals[known{moment, text}] {
		return text
	}
	n.names[known{moment, text}] = anyTime
	return anyTime
}

// replaceTexts replaces the values that are parts of a string.
func (n *names) replaceTexts(text string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, k := range n.texts {
		if strings.Contains(text, k.value) {
			text = replaceWord(text, k, n.names[k])
		}
	}
	return text
}

// replaceWord replaces a value where no letter or digit continues it.
func replaceWord(text string, k known, name string) string {
	var out strings.Builder
	for {
		before, after, found := strings.Cut(text, k.value)
		out.WriteString(before)
		if !found {
			return out.String()
		}
		if (k.class == objectName || isWordEnd(before)) && isWordStart(after) {
			out.WriteString(name)
		} else {
			out.WriteString(k.value)
		}
		text = after
	}
}

func isWordEnd(before string) bool {
	return before == "" || !isAlphanumeric(before[len(before)-1])
}

func isWordStart(after string) bool { return after == "" || !isAlphanumeric(after[0]) }

func isAlphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// choose marks a value that a client has chosen, unless a server has sent it before.
func (n *names) choose(c class, value string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, ok := n.names[known{c, value}]; !ok {
		n.literals[known{c, value}] = true
	}
}

// value returns the value of a name.
func (n *names) value(name string) (string, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	value, ok := n.values[name]
	return value, ok
}

// missing returns the names without a value, and a channel that is closed at the next new name.
func (n *names) missing(all []string) (missing []string, added <-chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, name := range all {
		if _, ok := n.values[name]; !ok {
			missing = append(missing, name)
		}
	}
	return missing, n.added
}

// bind gives a value a name, unless one of them is in use.
func (n *names) bind(name string, c class, value string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	_, named := n.names[known{c, value}]
	_, used := n.values[name]
	if c != listVersion && (used || named) {
		return
	}
	n.add(name, known{c, value})
}

// align binds the names of a recorded answer to the values at the same places of another answer.
func (n *names) align(want, got any) {
	switch want := want.(type) {
	case map[string]any:
		got, _ := got.(map[string]any)
		for key, value := range want {
			n.align(value, got[key])
		}
	case []any:
		got, _ := got.([]any)
		for i := range min(len(want), len(got)) {
			n.align(want[i], got[i])
		}
	case string:
		if strings.Contains(want, "<") && got != nil {
			n.alignText(want, fmt.Sprint(got)) // a node port is a number
		}
	}
}

// volatile matches all names.
var volatile = regexp.MustCompile(name.String() + "|" + anyTime + "|" + anyAge)

func (n *names) alignText(want, got string) {
	found := name.FindAllStringSubmatch(want, -1)
	if found == nil {
		return
	}
	var pattern strings.Builder
	end := 0
	for _, at := range volatile.FindAllStringIndex(want, -1) {
		pattern.WriteString(regexp.QuoteMeta(want[end:at[0]]))
		if name.MatchString(want[at[0]:at[1]]) {
			pattern.WriteString("(.+?)")
		} else {
			pattern.WriteString(".+?")
		}
		end = at[1]
	}
	pattern.WriteString(regexp.QuoteMeta(want[end:]))
	values := regexp.MustCompile("(?s)^" + pattern.String() + "$").FindStringSubmatch(got)
	for i := range min(len(found), len(values)-1) {
		n.bind(found[i][0], class(found[i][1]), values[i+1])
	}
}

// standIn returns the value that a replay sends for a value of a Secret, in base64. The value of a
// Docker configuration must be an object.
func standIn(key, name string) string {
	value := strings.Trim(name, "<>")
	if key == ".dockerconfigjson" || key == ".dockercfg" {
		value = fmt.Sprintf(`{"auths":{%q:{}}}`, value)
	}
	return base64.StdEncoding.EncodeToString([]byte(value))
}
