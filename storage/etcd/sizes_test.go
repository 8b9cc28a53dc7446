package etcd_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/miniapi/miniapi/storage/embedded"
	"github.com/miniapi/miniapi/storage/etcd"
)

// A member that accepts connections and does not answer hides neither the sizes nor the alarm that
// another member reports.
func TestSilentMemberDoesNotHideOthers(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	member, err := embedded.Start(t.Context(), embedded.Config{ListenClientURLs: []string{"http://127.0.0.1:0"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = member.Close(context.Background()) })
	raiseSpaceAlarm(t, member)
	client := dial(t, append([]string{"http://" + silent.Addr().String()}, member.ClientURLs()...))

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := etcd.SpaceProblem(ctx, client); err != etcd.ErrFull {
		t.Errorf("SpaceProblem returns %v", err)
	}
	if ctx.Err() != nil {
		t.Error("SpaceProblem has waited for the silent member")
	}
	collect := func() int {
		metrics := make(chan prometheus.Metric, 10)
		etcd.NewSizes(client).Collect(metrics)
		return len(metrics)
	}
	n := collect()
	for n == 0 && ctx.Err() == nil { // until the other member answers in time
		n = collect()
	}
	if n != 4 {
		t.Errorf("%d metrics of the other member, want 4", n)
	}
}

// raiseSpaceAlarm raises the alarm NOSPACE of an etcd.
func raiseSpaceAlarm(t *testing.T, member *embedded.Server) {
	t.Helper()
	client := dial(t, member.ClientURLs())
	_, err := etcdserverpb.NewMaintenanceClient(client.ActiveConnection()).Alarm(t.Context(), &etcdserverpb.AlarmRequest{
		Action: etcdserverpb.AlarmRequest_ACTIVATE, Alarm: etcdserverpb.AlarmType_NOSPACE,
	})
	if err != nil {
		t.Fatal(err)
	}
}
