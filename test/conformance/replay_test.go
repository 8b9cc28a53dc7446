package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"sigs.k8s.io/yaml"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/bootstrap"
	"github.com/miniapi/miniapi/internal/leaktest"
	"github.com/miniapi/miniapi/internal/servertest"
)

func TestMain(m *testing.M) {
	os.Exit(leaktest.Run(m))
}

// areas lists the areas with the namespace that they use and the setup functions that run before
// some steps; "" runs before the first one.
var areas = []struct {
	name, namespace string
	setups          map[string]func(*replay)
}{
	{"discovery", "x-discovery", nil},
	{"negative", "x-negative", map[string]func(*replay){"": setUpNegative}},
	{"lists", "x-lists", map[string]func(*replay){"": setUpLists, "lists/paging/page 2": addToLists}},
	{"deletions", "x-deletions", map[string]func(*replay){"": setUpDeletions}},
	{"meta", "x-meta", map[string]func(*replay){
		"meta/policy Orphan/create": removePolicyDeployment, "meta/policy Background/create": removePolicyDeployment,
	}},
	{"patch", "x-patch", nil},
	{"admission", "x-admission", map[string]func(*replay){"": setUpAdmission, "admission/plugins/priority default": removeQuota}},
	{"apply", "x-apply", map[string]func(*replay){"apply/deployment/create": removeInvalidDeployment}},
	{"subresources", "x-subs", nil},
	{"manifests", "x-manifests", map[string]func(*replay){
		"": setUpManifests,
		"manifests/test/fixtures/doc-yaml/user-guide/persistent-volumes/volumes/nfs.yaml-1/create-dryrun": removeVolume,
		"manifests/testdata/apply/patch.json-1/create-dryrun":                                             removeController,
	}},
	{"testdata", "x-testdata", nil},
	{"crd", "x-crd", map[string]func(*replay){"crd/change/create": removeGadgets}},
	{"lifecycle", "x-lifecycle", map[string]func(*replay){
		"lifecycle/v1.ResourceQuota-rq-one/create-dryrun":                    func(r *replay) { r.namespace("x-lifecycle-resourcequota") },
		"lifecycle/authorization.k8s.io.v1.LocalSubjectAccessReview-/create": removeBinding,
		"lifecycle/batch.v1.Job-job-one/put-create":                          func(r *replay) { removeJob(r, "job-one") },
		"lifecycle/batch.v1.Job-job-suspended/put-create":                    func(r *replay) { removeJob(r, "job-suspended") },
	}},
}

// TestReplay replays all areas to a server of each release.
func TestReplay(t *testing.T) {
	for _, release := range releases {
		t.Run(release, func(t *testing.T) { replayAreas(t, release) })
	}
}

func replayAreas(t *testing.T, release string) {
	known := readDifferences(t, release)
	same, differ, emulated := 0, 0, 0
	for _, area := range areas {
		t.Run(area.name, func(t *testing.T) {
			r := newReplay(t, release)
			r.user = recordedUser
			r.namespace(area.namespace)
			r.setups = area.setups
			r.setUp("")
			for _, s := range load(t, release, area.name) {
				r.step(&s, known)
			}
			known.stale(t, area.name+"/", r.differing)
			t.Logf("%d as recorded, %d differ, %d are not requests", r.same, len(r.differing), r.skipped)
			same, differ, emulated = same+r.same, differ+len(r.differing), emulated+known.emulated(r.differing)
		})
	}
	known.write(t)
	t.Logf("%d of %d answers are those of kube-apiserver %s: %.2f %%",
		same, same+differ, release, 100*float64(same)/float64(max(same+differ, 1)))
	if emulated > 0 {
		t.Logf("%.2f %% are those of it or of kube-apiserver %s that emulates it",
			100*float64(same+emulated)/float64(same+differ), latest)
	}
}

// replay sends the requests of one area to one server.
type replay struct {
	t       *testing.T
	release string
	url     string
	etcd    *clientv3.Client
	client  *http.Client
	user    http.Header // added to the headers of each request
	setups  map[string]func(*replay)
	chain   string
	bound   bindings
	// created is the latest creationTimestamp field of a response, address and port are the latest
	// cluster IP and node port of a Service in a response.
	created, address, port string
	page                   string         // token of the next page, from the latest list that had one
	object                 map[string]any // the latest one in a response of the chain

	same, skipped int
	differing     []string
}

func newReplay(t *testing.T, release string) *replay {
	t.Helper()
	return newReplayWith(t, miniapi.Config{Bootstrap: bootstrap.Full, EmulatedVersion: release, Authorization: miniapi.RBAC})
}

// newReplayWith starts a server without controllers.
func newReplayWith(t *testing.T, config miniapi.Config) *replay {
	t.Helper()
	config.Controllers = []string{"-*"}
	server := servertest.Start(t, config)
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	return &replay{t: t, release: config.EmulatedVersion, url: server.URL(), etcd: server.EtcdClient(), client: http.DefaultClient}
}

func (r *replay) setUp(step string) {
	r.t.Helper()
	if setup, ok := r.setups[step]; ok {
		setup(r)
	}
}

func (r *replay) namespace(name string) {
	r.t.Helper()
	r.create("/api/v1/namespaces", fmt.Sprintf(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q}}`, name))
}

// create and the others are for setups: they must succeed.
func (r *replay) create(path, body string) {
	r.t.Helper()
	r.must("POST", path, "application/json", body)
}

func (r *replay) must(method, path, contentType, body string) {
	r.t.Helper()
	answer := r.send(&step{Method: method, Path: path, Req: &body, ReqHeader: map[string][]string{"Content-Type": {contentType}}})
	if answer.status >= 300 {
		r.t.Fatalf("%s %s: %d %s", method, path, answer.status, answer.body)
	}
}

var (
	clusterAddress    = regexp.MustCompile(`"clusterIPs": ?\["([\d.]+)"\]`)
	recordedAddress   = regexp.MustCompile(`"10\.0\.0\.\d+"`)
	nodePort          = regexp.MustCompile(`"nodePort": ?(\d+)`)
	creationTime      = regexp.MustCompile(`"creationTimestamp": ?"\d{4}-\d\d-\d\dT[^"]+Z"`)
	continueToken     = regexp.MustCompile(`"continue": ?"([^"]+)"`)
	continueParameter = regexp.MustCompile(`continue=[^&]+`)
	currentParameter  = regexp.MustCompile(`resourceVersion=(cur|1354)\b`)
)

// fillKnown replaces the creation time, cluster IP and node port in a request by those of the
// latest response.
func (r *replay) fillKnown(body string) string {
	if r.created != "" {
		body = creationTime.ReplaceAllString(body, r.created)
	}
	if r.address != "" {
		body = recordedAddress.ReplaceAllString(body, strconv.Quote(r.address))
	}
	if r.port != "" {
		body = nodePort.ReplaceAllString(body, `"nodePort":`+r.port)
	}
	return body
}

// learn remembers the values of a response that later requests repeat.
func (r *replay) learn(response string) {
	if found := continueToken.FindStringSubmatch(response); found != nil {
		r.page = found[1]
	}
	if found := creationTime.FindString(response); found != "" {
		r.created = found
	}
	if found := clusterAddress.FindStringSubmatch(response); found != nil {
		r.address = found[1]
	}
	if found := nodePort.FindStringSubmatch(response); found != nil {
		r.port = found[1]
	}
	if object := objectOf(response); object != nil {
		r.object = object
	}
}

// fillPath replaces the recorded values in a URL by the values of this run: ordinals, the continue
// token of the previous page, and the current revision.
func (r *replay) fillPath(path string) string {
	path = continueParameter.ReplaceAllString(r.bound.fill(path), "continue="+r.page)
	if currentParameter.MatchString(path) {
		path = currentParameter.ReplaceAllString(path, "resourceVersion="+r.currentRevision())
	}
	return path
}

func (r *replay) currentRevision() string {
	r.t.Helper()
	got, err := r.etcd.Get(r.t.Context(), "/")
	if err != nil {
		r.t.Fatal(err)
	}
	return strconv.FormatInt(got.Header.Revision, 10)
}

// recorder is the field manager of requests that name none.
const recorder = "exam"

// recordedUser are the headers that impersonate the recorded administrator.
var recordedUser = http.Header{
	"Impersonate-User": {"admin"}, "Impersonate-Uid": {"admin"}, "Impersonate-Group": {"system:masters"},
}

type answer struct {
	status      int
	contentType string
	warnings    []string
	body        []byte
}

// fill replaces the recorded values in a request body by the values of this run.
func (r *replay) fill(s *step) string {
	body := fillObjectTimes(restore(s.ID, r.release, *s.Req), r.object)
	return r.bound.fill(r.fillKnown(body))
}

func (r *replay) send(s *step) answer {
	r.t.Helper()
	var body io.Reader
	if s.Req != nil {
		body = strings.NewReader(r.fill(s))
	}
	req, err := http.NewRequestWithContext(r.t.Context(), s.Method, r.url+r.fillPath(s.Path), body)
	if err != nil {
		r.t.Fatalf("%s: %v", s.ID, err)
	}
	req.Header.Set("User-Agent", recorder)
	maps.Copy(req.Header, r.user)
	for name, values := range s.ReqHeader {
		req.Header[name] = values
	}
	resp, err := r.client.Do(req)
	if err != nil {
		r.t.Fatalf("%s: %v", s.ID, err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatalf("%s: %v", s.ID, err)
	}
	r.learn(string(data))
	return answer{resp.StatusCode, resp.Header.Get("Content-Type"), resp.Header.Values("Warning"), data}
}

// step replays one request and files the outcome.
func (r *replay) step(s *step, known *differences) {
	r.t.Helper()
	if chain := s.chain(); chain != r.chain {
		r.chain, r.bound, r.object = chain, bindings{}, nil
	}
	r.setUp(s.ID)
	if s.Method == "FACT" || isAbridged(s) {
		r.skipped++
		return
	}
	if strings.HasSuffix(s.ID, "/get-deleted") && strings.Contains(s.Path, "/customresourcedefinitions/") {
		r.awaitDeleted(s)
	}
	found := r.compare(s, r.send(s))
	if len(found) == 0 {
		r.same++
		return
	}
	r.differing = append(r.differing, s.ID)
	known.check(r.t, s.ID, found)
}

// awaitDeleted repeats a GET until the object is deleted, which may happen in the background.
func (r *replay) awaitDeleted(s *step) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	for r.send(s).status != http.StatusNotFound {
		if ctx.Err() != nil {
			r.t.Fatalf("%s is still there", s.Path)
		}
	}
}

// isAbridged reports whether the recording has no complete request body: only its length, or a
// protobuf body with replacement characters.
func isAbridged(s *step) bool {
	return s.Req != nil && (strings.HasSuffix(*s.Req, " bytes>") || strings.ContainsRune(*s.Req, '\uFFFD'))
}

func (r *replay) compare(s *step, got answer) []difference {
	m := &matcher{bound: r.bound}
	if got.status != s.Status {
		m.differ("status", "want %d, got %d: %s", s.Status, got.status, cut(got.body))
		return m.found
	}
	if s.Header != "" && mediaType(got.contentType) != mediaType(s.Header) {
		m.differ("Content-Type", "want %q, got %q", s.Header, got.contentType)
	}
	if !slices.Equal(slices.Sorted(slices.Values(s.Warnings)), slices.Sorted(slices.Values(got.warnings))) {
		m.differ("Warning", "want %q, got %q", s.Warnings, got.warnings)
	}
	switch {
	case s.Text != nil && *s.Text == "protobuf that does not decode":
		// The recorder had no type for it. That it is protobuf shows in its type.
	case s.Text != nil:
		m.matchString("text", *s.Text, string(got.body))
	case len(s.Body) > 0:
		r.compareBody(m, s, got)
	}
	return m.found
}

func (r *replay) compareBody(m *matcher, s *step, got answer) {
	var want, value any
	if err := json.Unmarshal(s.Body, &want); err != nil {
		r.t.Fatalf("%s: %v", s.ID, err)
	}
	data, err := toJSON(got)
	if err != nil {
		m.differ("body", "%v: %s", err, cut(got.body))
		return
	}
	if err := json.Unmarshal(data, &value); err != nil {
		m.differ("body", "%v: %s", err, cut(got.body))
		return
	}
	sortCauses(value)
	m.match("body", want, value)
}

// toJSON turns YAML and protobuf answers into JSON, as the recorder did.
func toJSON(got answer) ([]byte, error) {
	switch {
	case strings.HasPrefix(got.contentType, "application/yaml"):
		return yaml.YAMLToJSON(got.body)
	case bytes.HasPrefix(got.body, []byte("k8s\x00")):
		return protobufToJSON(got.body)
	}
	return got.body, nil
}

// sortCauses puts the causes of a Status in the order of the recordings.
func sortCauses(value any) {
	object, _ := value.(map[string]any)
	details, _ := object["details"].(map[string]any)
	causes, _ := details["causes"].([]any)
	slices.SortFunc(causes, func(a, b any) int {
		x, _ := json.Marshal(a)
		y, _ := json.Marshal(b)
		return bytes.Compare(x, y)
	})
}

func mediaType(contentType string) string {
	before, _, _ := strings.Cut(contentType, ";")
	return before
}

func cut(body []byte) string {
	if len(body) > 300 {
		return string(body[:300]) + "..."
	}
	return string(body)
}
