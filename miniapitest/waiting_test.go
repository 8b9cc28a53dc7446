package miniapitest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/miniapi/miniapi/miniapitest"
)

func TestSettle(t *testing.T) {
	server := miniapitest.Start(t, miniapitest.Options{Controllers: []string{"*", "deployment", "replicaset"}, Pods: "instant"})
	const deployments = "/apis/apps/v1/namespaces/default/deployments"
	code, body := send(t, server.RESTConfig(), "POST", deployments, `{"metadata":{"name":"web"},"spec":{"replicas":3,
		"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},
		"spec":{"containers":[{"name":"web","image":"web"}]}}}}`)
	if code != 201 {
		t.Fatalf("%d: %s", code, body)
	}
	check(t, server.Settle(context.Background()))
	if _, body := send(t, server.RESTConfig(), "GET", deployments+"/web", ""); !strings.Contains(body, `"readyReplicas":3`) {
		t.Errorf("the deployment is not ready: %s", body)
	}
}

func TestSettleGivesUpWithItsContext(t *testing.T) {
	server := miniapitest.Start(t, miniapitest.Options{})
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := server.SettleFor(ctx, time.Hour); err == nil || !strings.Contains(err.Error(), "last write: revision") {
		t.Errorf("error %v", err)
	}
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	if err := server.SettleFor(canceled, time.Hour); err == nil {
		t.Error("no error for a context that was canceled")
	}
}

func TestWaitFor(t *testing.T) {
	server := miniapitest.Start(t, miniapitest.Options{})
	createConfigMap(t, server, "a")
	check(t, server.WaitFor(context.Background(), "configmap/a", "object.metadata.name == 'a'"))
	check(t, server.WaitForDeletion(context.Background(), "cm/default/b"))
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	err := server.WaitFor(ctx, "cm/a", "object.metadata.name == 'b'")
	if err == nil || !strings.Contains(err.Error(), "object.metadata.name is a") || !strings.Contains(err.Error(), "last write: resourceVersion") {
		t.Errorf("error %v", err)
	}
}

func TestAdvance(t *testing.T) {
	frozen := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	server := miniapitest.Start(t, miniapitest.Options{FrozenAt: frozen})
	check(t, server.Advance(context.Background(), 90*time.Minute))
	createConfigMap(t, server, "a")
	check(t, server.WaitFor(context.Background(), "cm/a", "object.metadata.creationTimestamp == '2030-01-01T01:30:00Z'"))
}
