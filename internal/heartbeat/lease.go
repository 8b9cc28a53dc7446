package heartbeat

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/miniapi/miniapi/internal/apitime"
	"github.com/miniapi/miniapi/registry"
)

// Intervals of kube-apiserver.
const (
	renewInterval   = 10 * time.Second
	cleanupInterval = time.Hour
	duration        = time.Hour
)

var identity = labels.Set{"apiserver.kubernetes.io/identity": "kube-apiserver"}

// Config configures a Lease.
type Config struct {
	// Catalog has the store of leases.
	Catalog registry.Lookup
	// Port is the port of the server. It distinguishes the servers of one host.
	Port int
	// Clock is the time of the API, in which the lease is renewed and expires.
	Clock *apitime.Clock
	// Logger takes failed renewals, which are repeated after the interval.
	Logger *slog.Logger
}

// Lease is the identity lease of a server.
type Lease struct {
	config         Config
	hostname, name string
	holder         string
}

// New returns the lease of a server on this host. It writes nothing.
func New(config Config) (*Lease, error) {
	hostname, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("identity lease: %w", err)
	}
	name := Name(hostname, config.Port)
	return &Lease{config: config, hostname: hostname, name: name, holder: name + "_" + uuid.NewString()}, nil
}

// Name returns the name of the lease of a server, which is also the ID of the server.
func Name(hostname string, port int) string {
	hash := sha256.Sum256(fmt.Appendf(nil, "%s:%d", hostname, port))
	return "apiserver-" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(hash[:16]))
}

// Key returns the storage key of the lease.
func (l *Lease) Key() string { return "/leases/" + metav1.NamespaceSystem + "/" + l.name }

// Run renews the lease and deletes the expired leases of other servers, until ctx ends, and returns
// nil then. The lease remains, as with kube-apiserver, and expires.
func (l *Lease) Run(ctx context.Context) error {
	ctx = registry.WithServerUser(ctx)
	var cleanup time.Time
	for {
		l.do(ctx, "renewed", l.renew)
		if now := l.config.Clock.Now(); !now.Before(cleanup) {
			l.do(ctx, "cleaned up", l.deleteExpired)
			cleanup = now.Add(cleanupInterval)
		}
		if !l.wait(ctx) {
			return nil
		}
	}
}

// wait waits for the next renewal. The result is false if ctx ends before.
func (l *Lease) wait(ctx context.Context) bool {
	due := make(chan struct{})
	defer l.config.Clock.AfterFunc(renewInterval, func() { close(due) })()
	select {
	case <-due:
		return true
	case <-ctx.Done():
		return false
	}
}

// do logs the error of an action. An action is never a reason to end the server.
func (l *Lease) do(ctx context.Context, action string, act func(context.Context, *registry.Store) error) {
	leases, err := registry.Require(l.config.Catalog, coordinationv1.Resource("leases"))
	if err == nil {
		err = act(ctx, leases)
	}
	if err != nil && ctx.Err() == nil {
		l.config.Logger.WarnContext(ctx, "identity leases are not "+action, "error", err)
	}
}

// renew creates the lease or sets its time of renewal.
func (l *Lease) renew(ctx context.Context, leases *registry.Store) error {
	_, err := leases.Update(ctx, registry.UpdateRequest{
		Namespace: metav1.NamespaceSystem, Name: l.name, ForceCreate: true,
		Propose: func(_ context.Context, current runtime.Object) (runtime.Object, error) {
			lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: l.name}}
			if current != nil {
				lease = current.(*coordinationv1.Lease).DeepCopy()
			}
			l.claim(lease)
			return lease, nil
		},
		Options: registry.WriteOptions{FieldManager: "kube-apiserver"},
	})
	return err
}

// claim sets the fields of a lease that this server holds.
func (l *Lease) claim(lease *coordinationv1.Lease) {
	now, seconds := metav1.NewMicroTime(l.config.Clock.Now()), int32(duration/time.Second)
	lease.Labels = labels.Merge(lease.Labels, labels.Merge(identity, labels.Set{corev1.LabelHostname: l.hostname}))
	lease.Spec.HolderIdentity, lease.Spec.LeaseDurationSeconds, lease.Spec.RenewTime = &l.holder, &seconds, &now
}

// deleteExpired deletes the leases of servers that have ended.
func (l *Lease) deleteExpired(ctx context.Context, leases *registry.Store) error {
	list, err := registry.ReadAll[*coordinationv1.Lease](ctx, leases, registry.ListRequest{
		Namespace: metav1.NamespaceSystem, Label: labels.SelectorFromSet(identity),
	})
	if err != nil {
		return err
	}
	var errs []error
	for _, lease := range list {
		if lease.Name == l.name || !isExpired(lease, l.config.Clock.Now()) {
			continue
		}
		_, err := leases.Delete(ctx, registry.DeleteRequest{
			Namespace: lease.Namespace, Name: lease.Name,
			Options: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &lease.UID, ResourceVersion: &lease.ResourceVersion}},
		})
		errs = append(errs, utilerrors.FilterOut(err, apierrors.IsNotFound, apierrors.IsConflict))
	}
	return errors.Join(errs...)
}

// isExpired reports whether a lease has expired. An incomplete lease has expired too.
func isExpired(lease *coordinationv1.Lease, now time.Time) bool {
	spec := &lease.Spec
	return spec.RenewTime == nil || spec.LeaseDurationSeconds == nil ||
		spec.RenewTime.Add(time.Duration(*spec.LeaseDurationSeconds)*time.Second).Before(now)
}
