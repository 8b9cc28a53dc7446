// Package cluster runs servers and etcd members as processes on loopback, and can kill, pause,
// restart and separate them. A [Topology] is either one server with an embedded etcd that syncs its
// data to disk, or replicas of a server with the members of an etcd cluster. All traffic between
// members, and between replicas and members, goes through links that can be cut.
package cluster
