package miniapitest_test

import (
	"context"
	"strings"
	"testing"

	"github.com/miniapi/miniapi/miniapitest"
)

func TestInject(t *testing.T) {
	server := miniapitest.Start(t, miniapitest.Options{})
	createConfigMap(t, server, "a")
	fault := server.Inject(t, miniapitest.Fault{
		Match:  miniapitest.FaultMatch{Verbs: []string{"update"}, Resources: []string{"configmaps"}, Count: 1},
		Effect: miniapitest.FaultEffect{Conflict: &miniapitest.FaultConflict{}},
	})
	for _, want := range []int{409, 200} {
		if code, body := send(t, server.RESTConfig(), "PUT", configMaps+"/a", `{"metadata":{"name":"a"}}`); code != want {
			t.Errorf("%d: %s", code, body)
		}
	}
	counts, err := fault.Counts(context.Background())
	check(t, err)
	if counts.Matched != 2 || counts.Injected != 1 || counts.LastRequest != "PUT "+configMaps+"/a" {
		t.Errorf("counts %+v", counts)
	}
	check(t, fault.Remove(context.Background()))

	got := runTest(func(t testing.TB) { server.Inject(t, miniapitest.Fault{}) })
	if !got.failed || !strings.Contains(got.log.String(), "set exactly one of status") {
		t.Errorf("an invalid fault: %s", got.log.String())
	}
}
