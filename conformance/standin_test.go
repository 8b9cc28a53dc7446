package conformance

import (
	"encoding/json"
	"net/http"
	"strings"
)

// catchUp replaces an object that lacks what admission and allocation add by
// the recorded one, which has the managers of the first: those behind it can then
// come out as recorded.
func (r *replay) catchUp(s *step) {
	r.t.Helper()
	object, name := r.recordedObject(s)
	if object == nil || strings.Contains(s.Path, "dryRun") {
		return
	}
	collection, _, _ := strings.Cut(s.Path, "?")
	r.request(http.MethodDelete, collection+"/"+name+"?propagationPolicy=Background&gracePeriodSeconds=0", nil)
	managers, ok := object["metadata"].(map[string]any)["managedFields"]
	if !ok {
		managers = []any{map[string]any{}} // a list that means none
	}
	delete(object["metadata"].(map[string]any), "managedFields")
	created := r.request(http.MethodPost, collection, unlabelled(object))
	created["metadata"].(map[string]any)["managedFields"] = managers
	r.bindAnew(s, r.request(http.MethodPut, collection+"/"+name, created))
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
	for _, field := range []string{"uid", "resourceVersion", "creationTimestamp"} {
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
