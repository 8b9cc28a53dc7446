package cluster

import (
	"net"
	"strings"
)

// Balancer is an address before all servers. A connection goes to the first server that accepts it.
// Servers take turns.
type Balancer struct{ *Link }

// NewBalancer returns a balancer of the servers of a topology. The caller must call Close.
func (t *Topology) NewBalancer() (Balancer, error) {
	var targets []string
	for _, s := range t.Servers {
		targets = append(targets, strings.TrimPrefix(s.URL, "http://"))
	}
	link, err := newLink("127.0.0.1:0", targets, nil)
	return Balancer{link}, err
}

// dial connects to the first target that accepts.
func (l *Link) dial() (far net.Conn, err error) {
	first := int(l.turn.Add(1))
	for n := range l.targets {
		if far, err = net.Dial("tcp", l.targets[(first+n)%len(l.targets)]); err == nil {
			return far, nil
		}
	}
	return nil, err
}
