package recording

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// Exchange is a request and its answer. Bodies are JSON values; any other body is a string.
type Exchange struct {
	// Request is the method and the path with the query.
	Request string `json:"request"`
	// Headers are the headers of the request that affect the answer.
	Headers map[string]string `json:"headers,omitempty"`
	Body    any               `json:"body,omitempty"`

	Code int `json:"code"`
	// ContentType is the media type of an answer that is not JSON.
	ContentType string   `json:"contentType,omitempty"`
	Warnings    []string `json:"warnings,omitempty"`
	Answer      any      `json:"answer,omitempty"`
	// Events are the events of a watch, without bookmarks except the end of the initial events.
	Events []any `json:"events,omitempty"`
	// OpenUntil is the position of the first exchange, counted from 1, that began after the end of
	// the watch. 0: the watch was open until the end of the recording.
	OpenUntil int `json:"openUntil,omitempty"`
}

// isWatch reports whether the answer is a stream of events.
func (e *Exchange) isWatch() bool { return e.Code == 200 && isWatch(e.target()) }

// target returns the path with the query.
func (e *Exchange) target() string {
	_, target, _ := strings.Cut(e.Request, " ")
	return target
}

// header is the first document of a recording.
const header = "# A recording of miniapi. Replay it: miniapi replay FILE --server URL\nrecording: 1\n"

// Write writes a recording: a YAML document for each exchange.
func Write(out io.Writer, exchanges []Exchange) error {
	w := bufio.NewWriter(out)
	fmt.Fprint(w, header)
	for i := range exchanges {
		text, err := exchanges[i].text()
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "---\n# %d\n%s", i+1, text)
	}
	return w.Flush()
}

// text returns an exchange as YAML, its fields in the order of their declaration.
func (e *Exchange) text() (string, error) {
	var out strings.Builder
	for _, part := range []struct {
		name  string
		value any
		empty bool
	}{
		{"request", e.Request, false},
		{"headers", e.Headers, len(e.Headers) == 0},
		{"body", e.Body, e.Body == nil},
		{"code", e.Code, false},
		{"contentType", e.ContentType, e.ContentType == ""},
		{"warnings", e.Warnings, len(e.Warnings) == 0},
		{"answer", e.Answer, e.Answer == nil},
		{"events", e.Events, len(e.Events) == 0},
		{"openUntil", e.OpenUntil, e.OpenUntil == 0},
	} {
		if part.empty {
			continue
		}
		text, err := yaml.Marshal(map[string]any{part.name: part.value})
		if err != nil {
			return "", err
		}
		out.Write(text)
	}
	return out.String(), nil
}

// Read returns the exchanges of a recording. The error names the document.
func Read(in io.Reader) ([]Exchange, error) {
	documents := utilyaml.NewYAMLReader(bufio.NewReader(in))
	first, err := documents.Read()
	var head struct {
		Recording int `json:"recording"`
	}
	if err != nil || yaml.Unmarshal(first, &head) != nil || head.Recording != 1 {
		return nil, errors.New("it does not begin with the line \"recording: 1\" of miniapi record")
	}
	var exchanges []Exchange
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return exchanges, nil
		}
		if err != nil {
			return nil, err
		}
		exchange, err := parse(document)
		if err != nil {
			return nil, fmt.Errorf("exchange %d: %w", len(exchanges)+1, err)
		}
		exchanges = append(exchanges, exchange)
	}
}

func parse(document []byte) (Exchange, error) {
	var e Exchange
	text, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return e, err
	}
	if err := yaml.UnmarshalStrict(document, &e); err != nil {
		return e, err
	}
	method, path, ok := strings.Cut(e.Request, " ")
	if !ok || method == "" || !strings.HasPrefix(path, "/") {
		return e, fmt.Errorf("request %q is not a method and a path", e.Request)
	}
	var whole map[string]any // with integers, which encoding/json turns into floating point numbers
	if err := utiljson.Unmarshal(text, &whole); err != nil {
		return e, err
	}
	e.Body, e.Answer = whole["body"], whole["answer"]
	e.Events, _ = whole["events"].([]any)
	return e, nil
}

// decodeBody returns a JSON or YAML body as a JSON value, another body as a string, and an empty
// body as nil.
func decodeBody(contentType string, body []byte) any {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	if strings.Contains(contentType, "yaml") {
		if converted, err := yaml.YAMLToJSON(body); err == nil {
			body = converted
		}
	}
	var value any
	if err := utiljson.Unmarshal(body, &value); err != nil {
		return strings.ToValidUTF8(string(body), "\uFFFD")
	}
	return value
}
