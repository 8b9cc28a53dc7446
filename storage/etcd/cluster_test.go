package etcd_test

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/miniapi/miniapi/storage/etcd"
	"github.com/miniapi/miniapi/storage/storagetest"
)

const members = 3

// startCluster returns a gRPC client of every member of a cluster, which ends with the test unless
// it is external. The unix URLs of the peers are relative to the working directory, as etcd
// requires.
func startCluster(t *testing.T) *clientv3.Client {
	t.Helper()
	if *endpoints != "" {
		return dial(t, strings.Split(*endpoints, ","))
	}
	dir, err := os.MkdirTemp("", "etcd") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	t.Chdir(dir)
	servers := make([]*embed.Etcd, members)
	for i := range servers {
		if servers[i], err = embed.StartEtcd(memberConfig(dir, i)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(servers[i].Close)
	}
	var addresses []string
	for _, server := range servers {
		select {
		case <-server.Server.ReadyNotify():
		case err := <-server.Err():
			t.Fatal(err)
		}
		addresses = append(addresses, server.Clients[0].Addr().String())
	}
	return dial(t, addresses)
}

func memberConfig(dir string, i int) *embed.Config {
	cfg := embed.NewConfig()
	cfg.Name = memberName(i)
	cfg.Dir = filepath.Join(dir, cfg.Name)
	cfg.UnsafeNoFsync = true
	cfg.TickMs, cfg.ElectionMs = 100, 5000 // so that members of a slow machine keep their leader
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	cfg.ListenPeerUrls = []url.URL{peerURL(i)}
	cfg.AdvertisePeerUrls = cfg.ListenPeerUrls
	cfg.ListenClientUrls = []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	cfg.AdvertiseClientUrls = cfg.ListenClientUrls
	var cluster []string
	for j := range members {
		u := peerURL(j)
		cluster = append(cluster, memberName(j)+"="+u.String())
	}
	cfg.InitialCluster = strings.Join(cluster, ",")
	return cfg
}

func memberName(i int) string { return fmt.Sprintf("member%d", i) }

func peerURL(i int) url.URL { return url.URL{Scheme: "unix", Host: fmt.Sprintf("localhost:%d", i+1)} }

func dial(t *testing.T, endpoints []string) *clientv3.Client {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{
		Endpoints:   endpoints,
		DialTimeout: 10 * time.Second,
		DialOptions: []grpc.DialOption{etcd.AtMostOnce()},
		Logger:      zap.NewNop(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// TestCluster runs the shared suite and the simulation on three members over gRPC.
func TestCluster(t *testing.T) {
	h := harness(etcd.Config{Client: startCluster(t)})
	t.Run("Suite", func(t *testing.T) { storagetest.Run(t, h) })
	t.Run("Simulation", func(t *testing.T) {
		s := simulation()
		if s.Writes == 0 {
			s.Writes = 1500 // every write goes through three members
		}
		storagetest.Simulate(t, h, s)
	})
}
