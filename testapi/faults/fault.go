package faults

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Fault injects a failure into the requests that it selects. The tags doc of its types are the
// descriptions of the fields in OpenAPI.
type Fault struct {
	// Name identifies the fault in its Set. It is the name of the object in the API: in lower case,
	// with letters, digits, '-' and '.'. Default: a name from the effect and a number.
	Name   string `json:"name,omitempty"`
	Match  Match  `json:"match"`
	Effect Effect `json:"effect"`
}

// Spec is the spec of a Fault in the API.
type Spec struct {
	Match  Match  `json:"match" doc:"The requests into which the failure is injected. Without a field all requests for resources, except for those of the group miniapi.dev."`
	Effect Effect `json:"effect" doc:"The failure. Exactly one field is set."`
}

// Effect is a failure. Exactly one field is set.
type Effect struct {
	Status   *Status   `json:"status,omitempty" doc:"Answers with an error."`
	Conflict *Conflict `json:"conflict,omitempty" doc:"Answers an update, patch or delete with the conflict of a stale write."`
	Latency  *Latency  `json:"latency,omitempty" doc:"Delays the request."`
	Reset    *Reset    `json:"reset,omitempty" doc:"Closes the connection."`
	Watch    *Watch    `json:"watch,omitempty" doc:"Disturbs a watch. Initial events that the client has requested with sendInitialEvents replace a list, so only noBookmarks affects them."`
	Stale    *Stale    `json:"stale,omitempty" doc:"Answers reads with a resourceVersion, and watches, from a watch cache that lags behind etcd. Consistent reads and writes are not affected."`
	Etcd     *Etcd     `json:"etcd,omitempty" doc:"Fails the requests to etcd on behalf of the selected requests. If the match has no field but duration, all requests of the server to etcd fail, also for its controllers and health checks."`
	Compact  *Compact  `json:"compact,omitempty" doc:"Compacts the history of etcd before the request is handled, so that all earlier resourceVersions and continue tokens are too old."`
}

// Status is an error response.
type Status struct {
	Code              int                 `json:"code" doc:"The HTTP status code, from 400 to 599."`
	Reason            metav1.StatusReason `json:"reason,omitempty" doc:"The reason of the Status. Default: the reason of kube-apiserver for the code."`
	Message           string              `json:"message,omitempty" doc:"The message of the Status. Default: the message of kube-apiserver for the code."`
	RetryAfterSeconds int                 `json:"retryAfterSeconds,omitempty" doc:"The value of the header Retry-After. 0: no header."`
	AfterWrite        bool                `json:"afterWrite,omitempty" doc:"Handles the request and sends the error instead of a success, as when the answer to a committed write is lost."`
}

// Conflict is the response to a write from a stale copy.
type Conflict struct {
	InterveningWrite bool `json:"interveningWrite,omitempty" doc:"Writes the object before the request is handled, so that the conflict is a real one: a write without a resourceVersion, or a patch, succeeds. The write sets the annotation miniapi.dev/intervening-write. Without it the request is answered with a conflict in any case."`
}

// Latency is a delay before the request is handled.
type Latency struct {
	Duration metav1.Duration `json:"duration" doc:"The delay, such as 100ms."`
	UpTo     metav1.Duration `json:"upTo,omitzero" doc:"The end of a uniform distribution that begins with duration. Default: duration."`
}

// Reset closes the connection.
type Reset struct {
	AfterWrite bool  `json:"afterWrite,omitempty" doc:"Handles the request before, so that a write is committed."`
	AfterBytes int64 `json:"afterBytes,omitempty" doc:"Sends so many bytes of the response before. 0: no response."`
}

// Watch disturbs a watch. At least one field is set. Initial events that the client has requested
// with sendInitialEvents replace a list, so only NoBookmarks affects them.
type Watch struct {
	EndAfter    *int            `json:"endAfter,omitempty" doc:"Ends the watch in an orderly way after so many events, bookmarks not counted: before the next one."`
	DropAfter   *int            `json:"dropAfter,omitempty" doc:"Closes the connection after so many events: before the next one."`
	ExpireAfter *int            `json:"expireAfter,omitempty" doc:"Sends the error 410 Expired after so many events, in place of the next one."`
	Delay       metav1.Duration `json:"delay,omitzero" doc:"Delays each event, for example by 1s."`
	Hold        bool            `json:"hold,omitempty" doc:"Holds all events until the fault ends."`
	NoBookmarks bool            `json:"noBookmarks,omitempty" doc:"Withholds bookmarks."`
}

// Stale answers reads as an API server does whose watch cache lags behind etcd: a get or list with
// a resourceVersion, such as 0, has the state at a past revision, and a watch withholds later
// events until the fault ends. Consistent reads and writes are not affected.
type Stale struct {
	ResourceVersion string          `json:"resourceVersion,omitempty" doc:"The revision of the cache. Default: the revision at which the fault was added."`
	Lag             metav1.Duration `json:"lag,omitzero" doc:"Moves the revision along: it is the revision from so long ago, and not earlier than the fault."`
}

// Etcd fails the requests to etcd on behalf of the selected requests. If Match has no field but
// Duration, it fails all requests of the server to etcd, also for its controllers and health
// checks, and stops the events of etcd.
type Etcd struct {
	Unavailable bool     `json:"unavailable,omitempty" doc:"Fails all requests at once, as while etcd restarts."`
	NoSpace     bool     `json:"noSpace,omitempty" doc:"Fails writes other than deletions, as the alarm NOSPACE of etcd does."`
	Latency     *Latency `json:"latency,omitempty" doc:"Delays each request to etcd."`
}

// Compact removes the history of etcd up to the present: all resourceVersions and continue tokens
// from before the request are too old for a watch, an exact list or the next page.
type Compact struct{}
