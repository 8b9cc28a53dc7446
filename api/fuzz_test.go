package api

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/api/encoding"
)

// fuzzQuery reads the options of a list from queries. The result is options that the registry
// accepts, or an error of the client.
func fuzzQuery(f *testing.F, parameter string, seeds ...string) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	c := podCall(f)
	c.r = httptest.NewRequest(http.MethodGet, "/", nil)
	f.Fuzz(func(t *testing.T, text string) {
		query := text
		if parameter != "" {
			query = url.Values{parameter: {text}}.Encode()
		}
		c.r.URL.RawQuery = query
		o, err := c.listOptions()
		if err != nil {
			if code := encoding.StatusOf(err).Code; code < 400 || code > 499 {
				t.Errorf("%q: %d %v", query, code, err)
			}
			return
		}
		c.listRequest(o)
		if o.LabelSelector != nil {
			o.LabelSelector.Matches(labels.Set{"a": "b"})
		}
		if o.FieldSelector != nil {
			o.FieldSelector.Matches(fields.Set{"metadata.name": "a"})
		}
	})
}

func FuzzListQuery(f *testing.F) {
	fuzzQuery(f, "", "limit=5&continue=x", "watch=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
		"resourceVersion=-1&timeoutSeconds=99999999999", "limit=-1", "a=%", ";;", "watch=x&watch=y")
}

func FuzzLabelSelector(f *testing.F) {
	fuzzQuery(f, "labelSelector", "a=b,c!=d", "a in (b,c),!d", "a>1,b<2", "a notin ()", "a==", "(", ",", "a in (", "x/y/z")
}

func FuzzFieldSelector(f *testing.F) {
	fuzzQuery(f, "fieldSelector", "metadata.name=a", "spec.nodeName!=b,status.phase==Running", `metadata.name=a\,b`, `metadata.name=\`, "spec.x=1", "=", ",")
}

// Every pod has a row in a Table.
func FuzzTable(f *testing.F) {
	for _, seed := range []string{
		`{"metadata":{"name":"a","creationTimestamp":"2020-01-01T00:00:00Z"}}`,
		`{"spec":{"initContainers":[{"name":"i","restartPolicy":"Always"}],"readinessGates":[{"conditionType":"x"}]},"status":{"phase":"Running","reason":"r","containerStatuses":[{"restartCount":-1,"lastState":{"terminated":{"finishedAt":null}}}],"initContainerStatuses":[{"state":{"terminated":{"exitCode":1,"signal":9}}}]}}`,
		`{"metadata":{"deletionTimestamp":"2020-01-01T00:00:00Z"},"status":{"conditions":[{"type":"Ready"}],"podIPs":[{}]}}`,
	} {
		f.Add(seed)
	}
	c := podCall(f)
	columns := c.columns()
	f.Fuzz(func(t *testing.T, data string) {
		pod := &corev1.Pod{}
		if json.Unmarshal([]byte(data), pod) != nil {
			return
		}
		table, err := encoding.NewTable(columns, []runtime.Object{pod}, encoding.TableOptions{Partial: c.partial})
		if err != nil || len(table.Rows) != 1 || len(table.Rows[0].Cells) != len(table.ColumnDefinitions) {
			t.Errorf("%v: %v", table, err)
		}
	})
}
