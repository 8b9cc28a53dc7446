package activity

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/registry"
)

// Server is the state of a server and its etcd. It is the content of the only object of the
// resource servers.miniapi.dev; metadata.creationTimestamp is the time of the start.
type Server struct {
	Version    string `json:"version" doc:"The version of miniapi."`
	Kubernetes string `json:"kubernetesVersion" doc:"The version of the Kubernetes API."`
	// Revision and Oldest limit the revisions that can be read.
	Revision  int64 `json:"revision" doc:"The latest revision."`
	Oldest    int64 `json:"oldestRevision" doc:"The oldest revision that can be read. Earlier ones are compacted."`
	Retention int64 `json:"historySeconds" doc:"The number of seconds for which history is kept, 0 for ever."`
	Size      int64 `json:"databaseBytes" doc:"The size of etcd's database."`
	InUse     int64 `json:"databaseBytesInUse" doc:"The size of the data in the database."`
	Quota     int64 `json:"databaseQuotaBytes,omitempty" doc:"The maximum size of the database, 0 if it is not known."`
	Requests  int64 `json:"openRequests" doc:"The number of open requests, watches included."`
	Watches   int64 `json:"openWatches" doc:"The number of open watches."`
}

// serverName is the name of the object of the resource servers.
const serverName = "this"

// Servers returns the resource servers.miniapi.dev of a server that was started at a time.
func Servers(started time.Time, read func(ctx context.Context) (*Server, error)) *registry.Resource {
	return definition[Server]{
		name: "servers", singular: "server", kind: "Server",
		description: "Server is the state of this server and its etcd.",
		columns: []column[Server]{
			{"Revision", "integer", "The latest revision.", func(_ metav1.ObjectMeta, s *Server) any { return s.Revision }},
			{"Oldest", "integer", "The oldest revision that can be read.", func(_ metav1.ObjectMeta, s *Server) any { return s.Oldest }},
			{"Database", "string", "The size of etcd's database.", func(_ metav1.ObjectMeta, s *Server) any { return size(s.Size) }},
			{"In Use", "string", "The size of the data in the database.", func(_ metav1.ObjectMeta, s *Server) any { return size(s.InUse) }},
			{"Requests", "integer", "The number of open requests, watches included.", func(_ metav1.ObjectMeta, s *Server) any { return s.Requests }},
			{"Watches", "integer", "The number of open watches.", func(_ metav1.ObjectMeta, s *Server) any { return s.Watches }},
			{"Age", "string", "The time since the start.", func(m metav1.ObjectMeta, _ *Server) any { return age(m) }},
		},
		list: func(ctx context.Context) ([]object[Server], error) {
			content, err := read(ctx)
			o := object[Server]{content: content}
			o.Name, o.CreationTimestamp = serverName, metav1.NewTime(started)
			return []object[Server]{o}, err
		},
	}.resource()
}

// size returns a number of bytes with a unit.
func size(bytes int64) string {
	if bytes < 1<<20 {
		return fmt.Sprintf("%.0fKiB", float64(bytes)/(1<<10))
	}
	return fmt.Sprintf("%.1fMiB", float64(bytes)/(1<<20))
}
