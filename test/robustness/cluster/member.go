package cluster

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/miniapi/miniapi/internal/freeport"
)

// Member is a process of etcd.
type Member struct {
	*Process
	// ClientURL is the address of the member without a link.
	ClientURL string
	id        string // as etcd writes it, known once the cluster runs
	// PeerURL is the address of link, which is before the peer port of the member.
	PeerURL string
	link    *Link
}

// Restart starts the member after its end. It does not wait until the member has caught up.
func (m *Member) Restart(context.Context) error { return m.Start() }

// memberAddresses are the addresses of a member: of its clients, of its peers, and of the link
// before the latter.
type memberAddresses struct{ client, peer, link string }

// AwaitReady waits until the member reaches a leader. It fails if the process ends.
func (m *Member) AwaitReady(ctx context.Context) error { return m.await(ctx, m.ClientURL+"/health") }

// newMembers returns the processes of an etcd cluster, which are not started.
func newMembers(config Config) ([]*Member, error) {
	free, err := freeport.Addresses("127.0.0.1", 3*config.Members)
	if err != nil {
		return nil, err
	}
	dir, addresses := config.Dir, make([]memberAddresses, config.Members)
	var initial []string
	for i := range addresses {
		addresses[i] = memberAddresses{client: free[3*i], peer: free[3*i+1], link: free[3*i+2]}
		initial = append(initial, fmt.Sprintf("etcd%d=http://%s", i+1, addresses[i].link))
	}
	program, env := config.Etcd, []string(nil)
	if program == "" {
		var err error
		if program, err = os.Executable(); err != nil {
			return nil, err
		}
		env = []string{toolMarker + "=etcd"}
	}
	election := cmp.Or(config.ElectionTimeout, defaultElectionTimeout)
	var members []*Member
	for i, a := range addresses {
		name := fmt.Sprintf("etcd%d", i+1)
		link, err := newLink(a.link, []string{a.peer}, etcdPeer)
		if err != nil {
			return nil, err
		}
		members = append(members, &Member{ClientURL: "http://" + a.client, PeerURL: "http://" + a.link, link: link, Process: &Process{
			Name: name, path: program, env: env, log: filepath.Join(dir, name+".log"),
			args: []string{
				"--name", name, "--data-dir", filepath.Join(dir, name),
				"--listen-client-urls", "http://" + a.client, "--advertise-client-urls", "http://" + a.client,
				"--listen-peer-urls", "http://" + a.peer, "--initial-advertise-peer-urls", "http://" + a.link,
				"--initial-cluster", strings.Join(initial, ","), "--initial-cluster-state", "new",
				"--heartbeat-interval", fmt.Sprint(election.Milliseconds() / 10), "--election-timeout", fmt.Sprint(election.Milliseconds()),
				"--log-level", "error",
			},
		}})
	}
	return members, nil
}

// StartMembers starts members and waits until the cluster has a leader.
func (t *Topology) StartMembers(ctx context.Context) error {
	for _, m := range t.Members {
		if err := m.Start(); err != nil {
			return err
		}
	}
	for _, m := range t.Members {
		if err := m.AwaitReady(ctx); err != nil {
			return err
		}
	}
	client, err := t.Client()
	if err != nil {
		return err
	}
	defer client.Close()
	list, err := client.MemberList(ctx)
	if err != nil {
		return err
	}
	for _, described := range list.Members {
		for _, m := range t.Members {
			if m.Name == described.Name {
				m.id = fmt.Sprintf("%x", described.ID)
			}
		}
	}
	return nil
}

// Leader returns the member that is the leader. It waits for the end of an election: on a busy
// machine members elect another leader at any time.
func (t *Topology) Leader(ctx context.Context) (*Member, error) {
	client, err := t.Client()
	if err != nil {
		return nil, err
	}
	defer client.Close()
	for {
		for _, m := range t.Members {
			if leader := t.leaderAccordingTo(ctx, client, m); leader != nil {
				return leader, nil
			}
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("the etcd cluster has no leader: %w", ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// leaderAccordingTo returns the leader of a member, nil if the member has none or does not answer.
func (t *Topology) leaderAccordingTo(ctx context.Context, client *clientv3.Client, m *Member) *Member {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	status, err := client.Status(ctx, m.ClientURL)
	if err != nil {
		return nil
	}
	for _, leader := range t.Members {
		if leader.id == fmt.Sprintf("%x", status.Leader) {
			return leader
		}
	}
	return nil
}

// Isolate blocks all connections between a member and the other members, not with clients. The
// returned function restores them.
func (t *Topology) Isolate(isolated *Member) (restore func()) {
	for _, m := range t.Members {
		if m == isolated {
			m.link.Block(everything)
			continue
		}
		m.link.Block(func(peer string) bool { return peer == isolated.id })
	}
	return func() {
		for _, m := range t.Members {
			m.link.Restore()
		}
	}
}
