package bench

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// row is one kind of requests. do sends request i; workers is the number of clients.
type row struct {
	name    string
	workers int
	do      func(s *subject, worker, i int) error
}

// rows are the requests of the comparison with kube-apiserver.
var rows = []row{
	{"create", 1, create}, {"create", 16, create},
	{"get", 1, get("application/json")}, {"get", 16, get("application/json")},
	{"get in protobuf", 16, get("application/vnd.kubernetes.protobuf")},
	{"update", 1, update}, {"update", 16, update},
	{"merge patch", 8, patch("application/merge-patch+json", "", `{"data":{"extra":"%d"}}`)},
	{"JSON patch", 8, patch("application/json-patch+json", "", `[{"op":"add","path":"/data/extra","value":"%d"}]`)},
	{"strategic merge patch", 8, patch("application/strategic-merge-patch+json", "", `{"data":{"extra":"%d"}}`)},
	{"apply", 8, patch("application/apply-patch+yaml", "?fieldManager=apply&force=true", `{"apiVersion":"v1","kind":"ConfigMap","data":{"extra":"%d"}}`)},
	{"list of 1000 objects", 1, list("")},
	{"list of 10 by label", 1, list("?labelSelector=group%3Dgroup-00001")},
	{"create and delete", 16, func(s *subject, worker, i int) error {
		if err := create(s, worker, i); err != nil {
			return err
		}
		return s.request(http.MethodDelete, fmt.Sprint(createdIn, "/new-", i), nil)
	}},
}

// createdIn is the path of the created objects.
const createdIn = "/api/v1/namespaces/kube-public/configmaps"

func create(s *subject, _, i int) error {
	return s.request(http.MethodPost, createdIn, configMap(fmt.Sprint("new-", i), ""))
}

func update(s *subject, worker, i int) error {
	name := fmt.Sprintf("item-%05d", worker)
	return s.send(http.MethodPut, s.url("/"+name), configMap(name, fmt.Sprint(i)))
}

func get(mediaType string) func(s *subject, worker, i int) error {
	return func(s *subject, worker, _ int) error {
		return s.sendAs(http.MethodGet, s.url(fmt.Sprintf("/item-%05d", worker)), mediaType, "")
	}
}

func patch(mediaType, query, body string) func(s *subject, worker, i int) error {
	return func(s *subject, worker, i int) error {
		return s.sendAs(http.MethodPatch, s.url(fmt.Sprintf("/item-%05d%s", worker, query)), mediaType, fmt.Sprintf(body, i))
	}
}

func list(query string) func(s *subject, worker, i int) error {
	return func(s *subject, _, _ int) error { return s.send(http.MethodGet, s.url(query), nil) }
}

// sendAs sends a request with a media type as its Accept header, or as its Content-Type if it has a
// body.
func (s *subject) sendAs(method, url, mediaType, body string) error {
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return err
	}
	if body == "" {
		req.Header.Set("Accept", mediaType)
	} else {
		req.Header.Set("Content-Type", mediaType)
	}
	return s.do(req)
}

// BenchmarkRequests measures the CPU time of a server for requests over TLS with ConfigMaps of 1
// KiB, and kube-apiserver's, if its programs are given.
func BenchmarkRequests(b *testing.B) {
	var subjects []*subject
	for _, name := range subjectNames() {
		s := newSubject(b, name)
		s.fillGroups(1000)
		subjects = append(subjects, s)
	}
	for _, r := range rows {
		b.Run(fmt.Sprintf("%s/%d clients", r.name, r.workers), func(b *testing.B) { r.measure(b, subjects) })
	}
}

// measure alternates between the subjects in slices.
func (r row) measure(b *testing.B, subjects []*subject) {
	var sides []*side
	for _, s := range subjects {
		began := s.requests
		s.requests += b.N
		sides = append(sides, &side{
			name: s.name, workers: r.workers,
			usage: func() time.Duration { return s.usage().cpu },
			do:    func(worker, i int) error { return r.do(s, worker, began+i) },
		})
	}
	slice := min(maxSlice, max(1, b.N/8))
	for sides[0].done < b.N {
		n := min(slice, b.N-sides[0].done)
		for _, side := range sides {
			side.run(b, n)
		}
	}
	for _, side := range sides {
		b.ReportMetric(float64(side.cpu.Microseconds())/float64(side.done), side.name+"-cpu-us/op")
	}
	if len(sides) == 2 && sides[0].cpu > 0 {
		b.ReportMetric(sides[1].cpu.Seconds()/sides[0].cpu.Seconds(), "cpu-quotient")
	}
}
