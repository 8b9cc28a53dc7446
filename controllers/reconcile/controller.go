package reconcile

import (
	"context"
	"log/slog"
	"net/http"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/internal/apitime"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
)

// FieldManager is the manager of the fields that controllers write, as for kube-controller-manager.
const FieldManager = "kube-controller-manager"

// Controller reconciles objects.
type Controller interface {
	// Reset is called before the current state of all objects is handled as changes: at the start,
	// and after changes were lost. Other objects do not exist.
	Reset()
	// Handle is called for one change after the other, and must not block.
	Handle(change Change)
	// Run reconciles until ctx ends, and returns nil then.
	Run(ctx context.Context) error
}

// Config configures a controller.
type Config struct {
	Catalog *registry.Catalog
	// Sync blocks until the catalog serves every kind that was defined before the call.
	Sync func(ctx context.Context) error
	// Bootstrapped is set if the server creates the objects of a new kube-apiserver at its start.
	Bootstrapped bool
	// Shared is set if other servers may use the same storage.
	Shared bool
	// Remote returns the connection to the server of an aggregated group version, and false if
	// there is none. Requests need a path only; their user is in the context.
	Remote func(schema.GroupVersion) (http.RoundTripper, bool)
	// CA is the certificate authority of the server in PEM, nil without HTTPS.
	CA []byte
	// Clock is the time of the API: of timestamps, expiries, deadlines and schedules.
	Clock *apitime.Clock
	// Activity collects the work of the controllers.
	Activity *Activity
	// Metrics are the metrics of the queues. Nil: none.
	Metrics *Metrics
	Logger  *slog.Logger
}

// Change is a change of a stored object, whose metadata is decoded on demand.
type Change struct {
	storage.Change
	// Location is empty, and Located false, if the catalog does not serve the resource.
	Location registry.Location
	Located  bool
}

// Is reports whether the changed object has a resource and a name.
func (c Change) Is(resource schema.GroupResource, name string) bool {
	return c.Located && c.Location.Name == name && c.Location.Store.Resource().GroupResource() == resource
}

// As returns a context with the user of a service account in kube-system.
func As(ctx context.Context, account string) context.Context {
	return registry.WithUser(ctx, &authenticationv1.UserInfo{
		Username: "system:serviceaccount:kube-system:" + account,
		Groups:   []string{"system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"},
	})
}
