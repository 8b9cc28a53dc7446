package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/anishathalye/porcupine"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// valueKey is the data key of the value of a ConfigMap, colourLabel the label of its colour.
const valueKey, colourLabel = "value", "colour"

// recordingClient is a client that records its requests and their results.
type recordingClient struct {
	id      int
	servers []configMaps
	// lossy permits responses with an unknown outcome.
	lossy bool
	// ticks receives a value for each request, unless it blocks.
	ticks  chan<- struct{}
	random *rand.Rand
	began  time.Time
	// latest is the last version of each object that the client has seen. Preconditions use it; it
	// may be stale.
	latest  objects
	history []porcupine.Operation
}

// run sends requests one after the other. It returns an error for a response that no request may
// get.
func (h *recordingClient) run(ctx context.Context, requests int) error {
	for i := range requests {
		select {
		case h.ticks <- struct{}{}:
		default:
		}
		in := h.choose(i)
		call := h.now()
		out, returned, err := h.attempt(ctx, in)
		if err != nil {
			return fmt.Errorf("client %d: %s: %w", h.id, in, err)
		}
		if out.outcome == unknown && (in.verb == verbGet || in.verb == verbList) {
			continue // a failed read adds nothing to the history
		}
		h.history = append(h.history, porcupine.Operation{ClientId: h.id, Input: in, Call: call, Output: out, Return: returned})
	}
	return nil
}

func (h *recordingClient) now() int64 { return int64(time.Since(h.began)) }

// chance returns true with a probability in percent.
func (h *recordingClient) chance(percent int) bool { return h.random.IntN(100) < percent }

func pick[T any](random *rand.Rand, from ...T) T { return from[random.IntN(len(from))] }

// choose returns the next request.
func (h *recordingClient) choose(i int) input {
	in := input{
		verb: pick(h.random, verbCreate, verbCreate, verbUpdate, verbUpdate, verbPatch, verbDelete, verbGet, verbGet, verbList, verbList),
		key:  h.random.IntN(keys),
	}
	latest := h.latest[in.key]
	switch in.verb {
	case verbCreate, verbUpdate, verbPatch:
		in.value, in.colour = fmt.Sprintf("%d-%d", h.id, i), pick(h.random, "red", "blue")
	case verbList:
		in.key, in.selected, in.limit = 0, pick(h.random, "", "", "red", "blue"), pick[int64](h.random, 0, 0, 1, 2)
	}
	if in.verb == verbDelete && h.chance(30) {
		in.given.uid = latest.uid
	}
	if in.verb == verbDelete || in.verb == verbUpdate || in.verb == verbPatch {
		in.given.revision = pick(h.random, 0, latest.revision)
	}
	return in
}

// attempt sends a request to one of the servers and sometimes cancels it before the response. It
// returns the time of the response.
func (h *recordingClient) attempt(ctx context.Context, in input) (output, int64, error) {
	if h.chance(3) {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(h.random.Int64N(int64(3*time.Millisecond))))
		defer cancel()
	}
	out, returned, err := h.perform(ctx, pick(h.random, h.servers...), in)
	switch {
	case err == nil:
		out.outcome = done
	case apierrors.IsNotFound(err):
		out.outcome = notFound
	case apierrors.IsAlreadyExists(err):
		out.outcome = exists
	case apierrors.IsConflict(err):
		out.outcome = conflict
	case ctx.Err() != nil, h.lossy && failed(err):
		out.outcome = unknown
	default:
		return output{}, 0, err
	}
	if out.outcome == done && in.verb == verbList {
		h.latest = out.objects
	} else if out.outcome == done && in.verb != verbDelete {
		h.latest[in.key] = out.object
	}
	return out, returned, nil
}

// failed reports whether an error is a failure of the server, not a rejection of the request.
func failed(err error) bool {
	return apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsInternalError(err)
}

func (h *recordingClient) perform(ctx context.Context, server configMaps, in input) (output, int64, error) {
	if in.verb == verbList {
		return h.list(ctx, server, in)
	}
	o, err := in.send(ctx, server)
	returned := h.now()
	if err != nil || in.verb == verbDelete {
		return output{}, returned, err
	}
	written, err := observed(o)
	return output{object: written}, returned, err
}

// send sends a request for a single object.
func (in input) send(ctx context.Context, server configMaps) (*corev1.ConfigMap, error) {
	switch in.verb {
	case verbCreate:
		return server.Create(ctx, in.configMap(), metav1.CreateOptions{})
	case verbUpdate:
		return server.Update(ctx, in.configMap(), metav1.UpdateOptions{})
	case verbPatch:
		return server.Patch(ctx, keyNames[in.key], types.MergePatchType, in.mergePatch(), metav1.PatchOptions{})
	case verbGet:
		return server.Get(ctx, keyNames[in.key], metav1.GetOptions{})
	case verbDelete:
		return nil, server.Delete(ctx, keyNames[in.key], metav1.DeleteOptions{Preconditions: in.given.preconditions()})
	}
	return nil, fmt.Errorf("not a request for a single object")
}

// list reads all pages. They count as one response at the time of the first page.
func (h *recordingClient) list(ctx context.Context, server configMaps, in input) (output, int64, error) {
	opts := metav1.ListOptions{Limit: in.limit}
	if in.selected != "" {
		opts.LabelSelector = colourLabel + "=" + in.selected
	}
	var out output
	var returned int64
	for {
		page, err := server.List(ctx, opts)
		if returned == 0 {
			returned = h.now()
		}
		if err == nil {
			err = out.add(page, in.limit)
		}
		if err != nil || page.Continue == "" {
			return out, returned, err
		}
		opts.Continue = page.Continue
	}
}

// add appends a page, which must have the revision of the previous pages.
func (out *output) add(page *corev1.ConfigMapList, limit int64) error {
	revision, err := strconv.ParseInt(page.ResourceVersion, 10, 64)
	switch {
	case err != nil:
		return err
	case out.revision != 0 && out.revision != revision:
		return fmt.Errorf("pages at %d and at %d", out.revision, revision)
	case limit > 0 && int64(len(page.Items)) > limit:
		return fmt.Errorf("%d objects on a page of %d", len(page.Items), limit)
	}
	out.revision = revision
	for i := range page.Items {
		key := slices.Index(keyNames[:], page.Items[i].Name)
		if key < 0 || out.objects[key].exists() {
			return fmt.Errorf("%q is unknown or listed twice", page.Items[i].Name)
		}
		if out.objects[key], err = observed(&page.Items[i]); err != nil {
			return err
		}
	}
	return nil
}

// observed returns the version of an object in a response.
func observed(o *corev1.ConfigMap) (object, error) {
	revision, err := strconv.ParseInt(o.ResourceVersion, 10, 64)
	if err == nil && (o.UID == "" || o.Data[valueKey] == "") {
		err = errors.New("an object without a uid or a value")
	}
	return object{value: o.Data[valueKey], colour: o.Labels[colourLabel], uid: string(o.UID), revision: revision}, err
}

func (in input) configMap() *corev1.ConfigMap {
	o := &corev1.ConfigMap{Data: map[string]string{valueKey: in.value}}
	o.Name = keyNames[in.key]
	o.Labels = map[string]string{colourLabel: in.colour}
	o.ResourceVersion = in.given.resourceVersion()
	return o
}

func (in input) mergePatch() []byte {
	return fmt.Appendf(nil, `{"metadata": {"resourceVersion": %q, "labels": {%q: %q}}, "data": {%q: %q}}`,
		in.given.resourceVersion(), colourLabel, in.colour, valueKey, in.value)
}

func (p precondition) resourceVersion() string {
	if p.revision == 0 {
		return ""
	}
	return strconv.FormatInt(p.revision, 10)
}

func (p precondition) preconditions() *metav1.Preconditions {
	var conditions metav1.Preconditions
	if p.uid != "" {
		conditions.UID = new(types.UID(p.uid))
	}
	if p.revision != 0 {
		conditions.ResourceVersion = new(p.resourceVersion())
	}
	return &conditions
}
