package registry

import (
	"context"
	"sync"

	authenticationv1 "k8s.io/api/authentication/v1"
)

type contextKey int

const (
	userKey contextKey = iota
	warningsKey
	admittedKey
	originKey
	clockKey
	auditKey
)

// WithUser returns a context with the user of the request.
func WithUser(ctx context.Context, user *authenticationv1.UserInfo) context.Context {
	return context.WithValue(ctx, userKey, user)
}

// WithServerUser returns a context with the user system:apiserver, for requests of the server.
func WithServerUser(ctx context.Context) context.Context {
	return WithUser(ctx, &authenticationv1.UserInfo{Username: "system:apiserver", Groups: []string{"system:masters"}})
}

// UserFrom returns the user of the request, nil if there is none.
func UserFrom(ctx context.Context) *authenticationv1.UserInfo {
	user, _ := ctx.Value(userKey).(*authenticationv1.UserInfo)
	return user
}

// withAdmitted returns a context whose writes are not admitted: they are parts of a request that
// has been admitted.
func withAdmitted(ctx context.Context) context.Context {
	return context.WithValue(ctx, admittedKey, true)
}

func isAdmitted(ctx context.Context) bool { return ctx.Value(admittedKey) != nil }

// Warnings collects the warnings of a response in order, each text once. Safe for concurrent use.
type Warnings struct {
	mu    sync.Mutex // guards all below
	texts []string
	seen  map[string]bool // the elements of texts
}

// WithWarnings returns a context in which AddWarning adds to the returned collector.
func WithWarnings(ctx context.Context) (context.Context, *Warnings) {
	w := &Warnings{}
	return context.WithValue(ctx, warningsKey, w), w
}

// AddWarning adds a warning to the response, if the context has a collector.
func AddWarning(ctx context.Context, text string) {
	w, ok := ctx.Value(warningsKey).(*Warnings)
	if !ok {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen[text] {
		return
	}
	if w.seen == nil {
		w.seen = map[string]bool{}
	}
	w.seen[text] = true
	w.texts = append(w.texts, text)
}

// List returns the warnings so far.
func (w *Warnings) List() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.texts...)
}
