package core_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/registry"
)

func TestMetadataOfNewObjects(t *testing.T) {
	e := newEnv(t)
	about := corev1.ObjectReference{Namespace: "default"}
	labeled := metav1.ObjectMeta{Namespace: "default", Name: "x", Labels: map[string]string{"a": "/"}}
	controller := func(name, prefix string) *corev1.ReplicationController {
		labels := map[string]string{"a": "b"}
		return &corev1.ReplicationController{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, GenerateName: prefix},
			Spec: corev1.ReplicationControllerSpec{Selector: labels, Template: &corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
			}},
		}
	}
	for _, tc := range []struct {
		rule, resource string
		object         runtime.Object
		want           string // "": none
	}{
		{"labels of a valid event are validated", "events", &corev1.Event{ObjectMeta: labeled, InvolvedObject: about},
			`Event "x" is invalid: metadata.labels: Invalid value: "/": a valid label must be an empty string or consist of ` +
				`alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character ` +
				`(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`},
		{"labels of an invalid event are ignored", "events", &corev1.Event{ObjectMeta: labeled, InvolvedObject: corev1.ObjectReference{Namespace: "y"}},
			`Event "x" is invalid: involvedObject.namespace: Invalid value: "y": does not match event.namespace`},
		{"the reporter has the name of the core group", "events", &corev1.Event{
			ObjectMeta: named("x"), InvolvedObject: about, EventTime: metav1.NewMicroTime(time.Unix(1700000000, 0)),
			ReportingController: strings.Repeat("a", 64), ReportingInstance: "i", Action: "a", Reason: "r",
		}, `Event "x" is invalid: reportingComponent: Invalid value: "` + strings.Repeat("a", 64) + `": name part must be no more than 63 bytes`},
		{"a limit range needs no name", "limitranges", &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Namespace: "default"}}, ""},
		{"a prefix of a replication controller needs no format", "replicationcontrollers", controller("", "gen."), ""},
		{"a prefix is a path segment", "replicationcontrollers", controller("x", "gen/"),
			`ReplicationController "x" is invalid: metadata.generateName: Invalid value: "gen/": may not contain '/'`},
		{"a name of a replication controller has a format", "replicationcontrollers", controller(strings.Repeat("a", 254), ""),
			`ReplicationController "` + strings.Repeat("a", 254) + `" is invalid: metadata.name: Invalid value: "` + strings.Repeat("a", 254) +
				`": must be no more than 253 bytes`},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			e := e.With(t)
			e.Default(tc.resource, tc.object)
			_, err := e.Store(tc.resource).Create(t.Context(), registry.CreateRequest{Namespace: "default", Object: tc.object})
			check(t, err, tc.want)
		})
	}
}
