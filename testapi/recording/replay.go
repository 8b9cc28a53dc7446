package recording

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

// Config configures a replay.
type Config struct {
	// Server is the API server, with the credentials for all requests.
	Server *rest.Config
	// Timeout limits each answer, and the time in which a watch has to send its recorded events.
	// Default 10 s.
	Timeout time.Duration
}

// Validate returns all errors of the configuration.
func (c Config) Validate() error {
	var errs []error
	if c.Server == nil {
		errs = append(errs, errors.New("recording: Config.Server is required"))
	}
	if c.Timeout < 0 {
		errs = append(errs, fmt.Errorf("recording: Config.Timeout is %v: it must be positive", c.Timeout))
	}
	return errors.Join(errs...)
}

// Replay sends the requests of a recording in their order, one after the other, and returns them
// with the answers of the server. The names of the recording have the values that the server has
// sent. Watches run beside the requests; each ends before the first request that began after its
// end in the recording, or after the last request. The error is of a connection or of a request
// without an answer.
func Replay(ctx context.Context, config Config, recorded []Exchange) ([]Exchange, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	if config.Timeout == 0 {
		config.Timeout = 10 * time.Second
	}
	base, _, err := rest.DefaultServerUrlFor(config.Server)
	if err != nil {
		return nil, err
	}
	transport, err := rest.TransportFor(config.Server)
	if err != nil {
		return nil, err
	}
	client := &http.Client{Transport: transport}
	defer client.CloseIdleConnections()
	p := &player{
		config: config, base: strings.TrimSuffix(base.String(), "/"), client: client,
		started: time.Now(), names: newNames(), objects: map[string]any{}, absent: map[string]bool{},
		played: make([]Exchange, len(recorded)),
	}
	for i := range recorded {
		text, err := recorded[i].text()
		if err != nil {
			return nil, err
		}
		p.names.reserve(text)
	}
	return p.play(ctx, recorded)
}

// player replays one recording.
type player struct {
	config  Config
	base    string
	client  *http.Client
	started time.Time
	names   *names
	played  []Exchange
	watches []*openWatch
	absent  map[string]bool // names that no watch has shown within the time limit

	mu      sync.Mutex // guards objects, and the alignment and naming of an answer as a whole
	objects map[string]any
}

func (p *player) play(ctx context.Context, recorded []Exchange) ([]Exchange, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		cancel()
		for _, w := range p.watches {
			<-w.done
		}
	}()
	for i := range recorded {
		p.endWatches(i + 1)
		if err := p.exchange(ctx, i, &recorded[i]); err != nil {
			return nil, fmt.Errorf("exchange %d, %s: %w", i+1, recorded[i].Request, err)
		}
	}
	p.endWatches(0)
	return p.played, context.Cause(ctx)
}

// exchange sends a request and waits for its answer, or for the beginning of a watch.
func (p *player) exchange(ctx context.Context, i int, want *Exchange) error {
	p.awaitNames(ctx, want)
	req, err := p.request(ctx, want)
	if err != nil {
		return err
	}
	got := &p.played[i]
	got.Request, got.Headers, got.Body, got.OpenUntil = want.Request, want.Headers, want.Body, want.OpenUntil
	ctx, cancel := context.WithCancel(ctx)
	limit := time.AfterFunc(p.config.Timeout, cancel)
	resp, err := p.client.Do(req.WithContext(ctx))
	if err == nil && resp.StatusCode == http.StatusOK && want.isWatch() {
		limit.Stop()
		got.Code = resp.StatusCode
		p.watch(resp.Body, cancel, want, got)
		return nil
	}
	defer limit.Stop()
	defer cancel()
	if err == nil {
		err = p.answer(resp, want, got)
	}
	if err != nil && !limit.Stop() {
		return fmt.Errorf("no complete answer within %v", p.config.Timeout)
	}
	return err
}

// request returns a request with the values of this replay.
func (p *player) request(ctx context.Context, want *Exchange) (*http.Request, error) {
	method, target, _ := strings.Cut(want.Request, " ")
	p.mu.Lock()
	f := &filler{names: p.names, objects: p.objects, secrets: isOfSecrets(target)}
	target, body := f.target(target), f.body("", want.Body, nil)
	p.mu.Unlock()
	choices := Exchange{Request: method + " " + target, Headers: map[string]string{}, Body: body}
	choices.renderRequest(&renderer{names: p.names, request: true, since: p.started, secrets: f.secrets})
	text, err := encodeBody(want.Headers["Content-Type"], body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, p.base+target, text)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", plainJSON)
	for header, value := range want.Headers {
		if value = f.text(value); header != "Authorization" || !name.MatchString(value) {
			req.Header.Set(header, value)
		}
	}
	return req, nil
}

func encodeBody(contentType string, body any) (io.Reader, error) {
	if body == nil {
		return nil, nil
	}
	if text, ok := body.(string); ok {
		return strings.NewReader(text), nil
	}
	text, err := json.Marshal(body)
	if err == nil && strings.Contains(contentType, "yaml") {
		text, err = yaml.JSONToYAML(text)
	}
	return bytes.NewReader(text), err
}

// answer stores an answer with the names of the recorded one.
func (p *player) answer(resp *http.Response, want, got *Exchange) error {
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBytes))
	if err != nil {
		return err
	}
	a := &answer{code: resp.StatusCode, contentType: resp.Header.Get("Content-Type"), warnings: resp.Header.Values("Warning"), body: body}
	value := decodeBody(a.contentType, a.body)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.names.align(want.Answer, value)
	p.remember(value)
	got.setAnswer(a, value, p.renderer(want))
	return nil
}

func (p *player) renderer(want *Exchange) *renderer {
	return &renderer{names: p.names, replay: true, since: p.started, secrets: isOfSecrets(want.target())}
}

// remember keeps the objects of an answer. The caller holds mu.
func (p *player) remember(value any) {
	object, _ := value.(map[string]any)
	metadata, _ := object["metadata"].(map[string]any)
	if uid, ok := metadata["uid"].(string); ok {
		p.objects[uid] = object
	}
	items, _ := object["items"].([]any)
	for _, item := range items {
		p.remember(item)
	}
}
