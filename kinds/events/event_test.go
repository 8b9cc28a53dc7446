package events

import (
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/miniapi/miniapi/internal/leaktest"
	"github.com/miniapi/miniapi/kinds/core"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func TestMain(m *testing.M) { os.Exit(leaktest.Run(m)) }

func full() *eventsv1.Event {
	now := metav1.NewTime(time.Unix(1700000000, 0))
	return &eventsv1.Event{
		ObjectMeta:               metav1.ObjectMeta{Namespace: "x", Name: "e"},
		EventTime:                metav1.NewMicroTime(now.Time),
		Series:                   &eventsv1.EventSeries{Count: 3, LastObservedTime: metav1.NewMicroTime(now.Time)},
		ReportingController:      "example.com/c",
		ReportingInstance:        "i",
		Action:                   "a",
		Reason:                   "R",
		Regarding:                corev1.ObjectReference{Kind: "Pod", Namespace: "x", Name: "p"},
		Related:                  &corev1.ObjectReference{Kind: "Node", Name: "n"},
		Note:                     "note",
		Type:                     "Normal",
		DeprecatedSource:         corev1.EventSource{Component: "c", Host: "h"},
		DeprecatedFirstTimestamp: now,
		DeprecatedLastTimestamp:  now,
		DeprecatedCount:          2,
	}
}

func TestConversionsRoundTrip(t *testing.T) {
	if diff := cmp.Diff(full(), fromCore(toCore(full()))); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

func TestBothGroupsServeTheSameEvents(t *testing.T) {
	e := registrytest.New(t, nil, core.Events().Build(feature.Default()), events(feature.Default()))
	version := e.Store("events.events.k8s.io").Resource().Versions[0]
	event := full()
	event.DeprecatedSource, event.DeprecatedCount = corev1.EventSource{}, 0
	event.DeprecatedFirstTimestamp, event.DeprecatedLastTimestamp = metav1.Time{}, metav1.Time{}
	hub, err := version.ToHub(event)
	if err != nil {
		t.Fatal(err)
	}
	e.Create("events.events.k8s.io", hub)
	got := e.Get("events", "x", "e").(*corev1.Event)
	if got.Message != "note" || got.InvolvedObject.Name != "p" {
		t.Errorf("in the core group: %+v", got)
	}
	label, value, err := version.FieldLabel("regarding.name", "p")
	if err != nil {
		t.Fatal(err)
	}
	page, err := e.Store("events.events.k8s.io").List(t.Context(), registry.ListRequest{Namespace: "x", Field: fields.OneTermEqualSelector(label, value)})
	if err != nil || len(page.Entries) != 1 {
		t.Errorf("selected by %s: %d events, %v", label, len(page.Entries), err)
	}
}

func TestFieldLabels(t *testing.T) {
	for label, want := range map[string]string{
		"reportingController": "reportingComponent",
		"regarding.fieldPath": "involvedObject.fieldPath",
		"type":                "type",
		"metadata.name":       "metadata.name",
		"involvedObject.name": "",
		"source":              "",
	} {
		got, _, err := fieldLabel(label, "v")
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%s: %q, %v, want %q", label, got, err, want)
		}
	}
}

func TestEventsExpire(t *testing.T) {
	if ttl := events(feature.Default()).Strategy.TTL(full(), false); ttl != 3600 {
		t.Errorf("kept for %d s, want 3600", ttl)
	}
}
