package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/rest"
)

// maxBytes limits the bodies of a recording.
const maxBytes = 256 << 20

// Recorder is a reverse proxy that records the requests for objects and their answers. Requests for
// documents about the API pass unrecorded. Clients get answers in JSON, also if they prefer
// protobuf.
type Recorder struct {
	proxy   *httputil.ReverseProxy
	started time.Time

	mu    sync.Mutex // guards the fields below
	log   []entry
	count int
	bytes int
}

// entry is a part of an exchange: the request, the answer, an event or the end of a watch. Exactly
// one of the last four fields is set.
type entry struct {
	index   int // of the exchange
	request *Exchange
	answer  *answer
	event   []byte
	end     bool
}

// answer is an answer before its values have names.
type answer struct {
	code        int
	contentType string
	warnings    []string
	body        []byte
}

// NewRecorder returns a proxy for the API server of a configuration. It uses the credentials of the
// configuration for requests without an Authorization header.
func NewRecorder(config *rest.Config) (*Recorder, error) {
	target, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	r := &Recorder{started: time.Now()}
	r.proxy = &httputil.ReverseProxy{
		Rewrite:       func(p *httputil.ProxyRequest) { rewrite(p, target) },
		Transport:     roundTripper{r, transport},
		FlushInterval: -1, // events of watches are sent at once
		ErrorHandler:  writeUnreachable,
	}
	return r, nil
}

// writeUnreachable answers a request that the API server has not answered.
func writeUnreachable(w http.ResponseWriter, _ *http.Request, err error) {
	body, marshalErr := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: http.StatusBadGateway, Reason: metav1.StatusReasonServiceUnavailable,
		Message: "miniapi record: the server does not answer: " + err.Error(),
	})
	if marshalErr != nil {
		body = nil
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadGateway)
	_, _ = w.Write(body) // the client may have gone
}

func rewrite(p *httputil.ProxyRequest, target *url.URL) {
	p.SetURL(target)
	p.Out.Host = ""
	if isRecorded(p.In) {
		p.Out.Header.Set("Accept", readable(p.In.Header.Get("Accept")))
		p.Out.Header.Del("Accept-Encoding")
	}
}

// ServeHTTP sends a request to the API server.
func (r *Recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) { r.proxy.ServeHTTP(w, req) }

// roundTripper records a request and its answer.
type roundTripper struct {
	recorder *Recorder
	next     http.RoundTripper
}

func (t roundTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	if !isRecorded(req) {
		return t.next.RoundTrip(req)
	}
	var body []byte
	if req.Body != nil {
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
	}
	index := t.recorder.begin(req, body)
	resp, err := t.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	a := &answer{code: resp.StatusCode, warnings: resp.Header.Values("Warning"), contentType: resp.Header.Get("Content-Type")}
	resp.Body = &capture{ReadCloser: resp.Body, recorder: t.recorder, index: index, answer: a, watch: a.code == http.StatusOK && isWatch(req.URL.RequestURI())}
	return resp, nil
}

// begin records a request.
func (r *Recorder) begin(req *http.Request, body []byte) (index int) {
	e := &Exchange{Request: req.Method + " " + targetOf(req), Headers: headersOf(req)}
	if media, decoded := readableBody(req.Header.Get("Content-Type"), body); decoded != nil {
		e.Body = decoded
		e.Headers["Content-Type"] = media
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.log = append(r.log, entry{index: r.count, request: e})
	r.count++
	r.bytes += len(body)
	return r.count - 1
}

func (r *Recorder) add(e entry, size int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.bytes += size; r.bytes <= maxBytes {
		r.log = append(r.log, e)
	}
}

// capture copies an answer while the client reads it. The end of the body is its Close.
type capture struct {
	io.ReadCloser
	recorder *Recorder
	index    int
	answer   *answer
	watch    bool
	read     bytes.Buffer
	closed   sync.Once
}

func (c *capture) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.read.Write(p[:n])
	for c.watch {
		line, rest, found := bytes.Cut(c.read.Bytes(), []byte("\n"))
		if !found {
			break
		}
		c.recorder.add(entry{index: c.index, event: bytes.Clone(line)}, len(line))
		c.read = *bytes.NewBuffer(bytes.Clone(rest))
	}
	if !c.watch && c.read.Len() > maxBytes {
		c.read.Reset()
		c.recorder.add(entry{}, maxBytes+1)
	}
	return n, err
}

func (c *capture) Close() error {
	c.closed.Do(func() {
		if c.watch {
			c.recorder.add(entry{index: c.index, end: true}, 0)
			return
		}
		c.answer.body = c.read.Bytes()
		c.recorder.add(entry{index: c.index, answer: c.answer}, len(c.answer.body))
	})
	return c.ReadCloser.Close()
}

// Exchanges returns the recorded exchanges in the order of their beginning. A request without a
// complete answer is left out. The error says that the recording is too large.
func (r *Recorder) Exchanges() ([]Exchange, error) {
	r.mu.Lock()
	log, count, size := slices.Clone(r.log), r.count, r.bytes
	r.mu.Unlock()
	if size > maxBytes {
		return nil, fmt.Errorf("the bodies of the recording are larger than %d MiB: record fewer requests", maxBytes>>20)
	}
	s := newScribe(count, r.started)
	for _, e := range log {
		if err := s.write(e); err != nil {
			return nil, err
		}
	}
	return s.complete(), nil
}

// scribe turns a log into exchanges. Names are numbered in the order of the log.
type scribe struct {
	names     *names
	started   time.Time
	exchanges []Exchange
	renderers []*renderer // of answers
	begun     int
}

func newScribe(count int, started time.Time) *scribe {
	return &scribe{names: newNames(), started: started, exchanges: make([]Exchange, count), renderers: make([]*renderer, count)}
}

func (s *scribe) write(e entry) error {
	exchange, answers := &s.exchanges[e.index], s.renderers[e.index]
	switch {
	case e.request != nil:
		s.begun++
		s.request(e.index, *e.request)
	case e.answer != nil:
		exchange.setAnswer(e.answer, decodeBody(e.answer.contentType, e.answer.body), answers)
	case e.event != nil:
		event, err := decodeEvent(e.event)
		if err != nil || event == nil {
			return err
		}
		exchange.Events = append(exchange.Events, answers.value("", event))
	case e.end:
		if s.begun < len(s.exchanges) {
			exchange.OpenUntil = s.begun + 1
		}
	}
	return nil
}

func (s *scribe) request(index int, e Exchange) {
	secrets := isOfSecrets(e.target())
	r := &renderer{names: s.names, request: true, since: s.started, secrets: secrets}
	e.renderRequest(r)
	if isWatch(e.target()) {
		e.Code = http.StatusOK // until an answer says otherwise
	}
	s.exchanges[index] = e
	s.renderers[index] = &renderer{names: s.names, since: s.started, secrets: secrets}
}

// renderRequest gives the values of a request names.
func (e *Exchange) renderRequest(r *renderer) {
	method, target, _ := strings.Cut(e.Request, " ")
	e.Request = method + " " + r.target(target)
	for header, value := range e.Headers {
		e.Headers[header] = r.text(value)
	}
	if credentials := e.Headers["Authorization"]; !name.MatchString(credentials) {
		delete(e.Headers, "Authorization")
	}
	e.Body = r.value("", e.Body)
}

// setAnswer sets the answer. value is its decoded body.
func (e *Exchange) setAnswer(a *answer, value any, r *renderer) {
	a.removeExplanation(value)
	e.Code = a.code
	e.Warnings = nil
	for _, warning := range a.warnings {
		e.Warnings = append(e.Warnings, r.text(warning))
	}
	if media, _, _ := strings.Cut(a.contentType, ";"); media != plainJSON && media != "" {
		e.ContentType = media
	}
	e.Answer = r.value("", value)
}

// complete returns the exchanges that have an answer.
func (s *scribe) complete() []Exchange {
	position := make([]int, len(s.exchanges)+2) // of exchanges after the removal of others, from 1
	kept := 0
	for i := range s.exchanges {
		if s.exchanges[i].Code != 0 {
			kept++
		}
		position[i+1] = kept
	}
	var complete []Exchange
	for _, e := range s.exchanges {
		if e.Code == 0 {
			continue
		}
		if e.OpenUntil > 0 {
			e.OpenUntil = position[e.OpenUntil-1] + 1
		}
		if e.OpenUntil > kept {
			e.OpenUntil = 0
		}
		complete = append(complete, e)
	}
	return complete
}

// decodeEvent returns the event of a line of a watch, nil for a bookmark that a server sends at any
// time.
func decodeEvent(line []byte) (any, error) {
	var event struct {
		Type   string `json:"type"`
		Object struct {
			Metadata struct {
				Annotations map[string]string `json:"annotations"`
			} `json:"metadata"`
		} `json:"object"`
	}
	var value any
	if err := utiljson.Unmarshal(line, &value); err != nil {
		return nil, errors.New("a watch has an event that is not JSON")
	}
	if err := utiljson.Unmarshal(line, &event); err == nil && event.Type == "BOOKMARK" && event.Object.Metadata.Annotations["k8s.io/initial-events-end"] != "true" {
		return nil, nil
	}
	return value, nil
}
