package conformance

import (
	"encoding/json"
	"net/http"
	"strings"
)

// Some steps cannot come out as recorded yet, but those behind them can, if the
// object is brought into the state that the recording says it was in.

// catchUp replaces an object that lacks what admission and allocation add by
// the recorded one.
func (r *replay) catchUp(s *step) {
	r.t.Helper()
	object, name := r.recordedObject(s)
	if object == nil || strings.Contains(s.Path, "dryRun") {
		return
	}
	collection, _, _ := strings.Cut(s.Path, "?")
	r.request(http.MethodDelete, collection+"/"+name+"?propagationPolicy=Background&gracePeriodSeconds=0", nil)
	r.bindAnew(s, r.request(http.MethodPost, collection, unlabelled(object)))
}

// standIn does with a PUT what server-side apply would have done.
func (r *replay) standIn(s *step) {
	r.t.Helper()
	object, _ := r.recordedObject(s)
	if object == nil || strings.Contains(s.Path, "dryRun") {
		return
	}
	path, _, _ := strings.Cut(s.Path, "?")
	if s.Status == http.StatusCreated {
		r.bindAnew(s, r.request(http.MethodPost, path[:strings.LastIndex(path, "/")], unlabelled(object)))
		return
	}
	current := r.request(http.MethodGet, path, nil)
	metadata := object["metadata"].(map[string]any)
	if m, ok := current["metadata"].(map[string]any); ok {
		metadata["resourceVersion"] = m["resourceVersion"]
	}
	r.bindAnew(s, r.request(http.MethodPut, path, object))
}

// unlabelled drops from a Job what its server will make of the new one's uid.
func unlabelled(object map[string]any) map[string]any {
	if object["kind"] != "Job" {
		return object
	}
	spec := object["spec"].(map[string]any)
	delete(spec, "selector")
	delete(spec["template"].(map[string]any)["metadata"].(map[string]any), "labels")
	labels, _ := object["metadata"].(map[string]any)["labels"].(map[string]any)
	for name := range labels {
		if strings.HasSuffix(name, "controller-uid") || strings.HasSuffix(name, "job-name") {
			delete(labels, name)
		}
	}
	return object
}

// recordedObject is the object in a recorded answer, without what only its
// server could say; nil if the answer is none.
func (r *replay) recordedObject(s *step) (object map[string]any, name string) {
	if err := json.Unmarshal([]byte(r.bound.fill(string(s.Body))), &object); err != nil {
		return nil, ""
	}
	metadata, ok := object["metadata"].(map[string]any)
	if !ok || metadata["name"] == nil {
		return nil, ""
	}
	for _, field := range []string{"uid", "resourceVersion", "managedFields", "creationTimestamp"} {
		delete(metadata, field)
	}
	return object, metadata["name"].(string)
}

// bindAnew makes the ordinals of a recorded answer stand for what the object
// that took its place has.
func (r *replay) bindAnew(s *step, got map[string]any) {
	var want struct {
		Metadata struct{ UID, ResourceVersion string }
	}
	if err := json.Unmarshal(s.Body, &want); err != nil {
		return
	}
	metadata, ok := got["metadata"].(map[string]any)
	if !ok {
		return
	}
	if uid, ok := metadata["uid"].(string); ok {
		r.bound[want.Metadata.UID] = uid
	}
	if version, ok := metadata["resourceVersion"].(string); ok {
		r.bound[want.Metadata.ResourceVersion] = version
	}
}

func (r *replay) request(method, path string, object map[string]any) map[string]any {
	r.t.Helper()
	s := &step{Method: method, Path: path, ReqHeader: map[string][]string{"Content-Type": {"application/json"}}}
	if object != nil {
		body, err := json.Marshal(object)
		if err != nil {
			r.t.Fatal(err)
		}
		text := string(body)
		s.Req = &text
	}
	got := r.send(s)
	if got.status >= 300 {
		r.t.Errorf("stand-in %s %s: %d %s", method, path, got.status, got.body)
	}
	var answer map[string]any
	if err := json.Unmarshal(got.body, &answer); err != nil {
		r.t.Fatalf("stand-in %s %s: %v", method, path, err)
	}
	return answer
}
