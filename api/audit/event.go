package audit

import (
	"net/http"
	"slices"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	auditapi "k8s.io/apiserver/pkg/apis/audit"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	upstream "k8s.io/apiserver/pkg/audit"

	"github.com/miniapi/miniapi/registry"
)

// The stages of a request.
const (
	RequestReceived  = auditv1.StageRequestReceived
	ResponseStarted  = auditv1.StageResponseStarted
	ResponseComplete = auditv1.StageResponseComplete
	Panic            = auditv1.StagePanic
)

const (
	// maxUserAgent is the length of a User-Agent in an event, followed by truncatedSuffix.
	maxUserAgent    = 1024
	truncatedSuffix = "...TRUNCATED"
	// MaxBody is the maximum size of the request and of the response in an event, the default of
	// kube-apiserver's --audit-log-truncate-max-event-size. A larger one is left out, which
	// truncatedKey says.
	MaxBody      = 10 << 20
	truncatedKey = "audit.k8s.io/truncated"
)

// Event is the event of one request. Its methods are safe for concurrent use, and do nothing on a
// nil Event, the event of a request that is not in the audit log.
type Event struct {
	log         *Log
	config      upstream.RequestAuditConfig
	annotations *registry.AuditAnnotations

	mu    sync.Mutex // guards event
	event auditv1.Event
}

// Request describes the request of an event.
type Request struct {
	*http.Request
	AuditID  string
	Received time.Time
	Access   registry.Access
	// Annotations collects the annotations of the request.
	Annotations *registry.AuditAnnotations
}

// Begin returns the event of a request, nil if the policy excludes the request.
func (l *Log) Begin(r Request) *Event {
	config := l.policy.EvaluatePolicyRule(attributes(r.Access))
	if config.Level == auditapi.LevelNone {
		return nil
	}
	e := &Event{log: l, config: config, annotations: r.Annotations, event: auditv1.Event{
		TypeMeta:                 metav1.TypeMeta{Kind: "Event", APIVersion: auditv1.SchemeGroupVersion.String()},
		Level:                    auditv1.Level(config.Level),
		AuditID:                  types.UID(r.AuditID),
		RequestURI:               r.URL.RequestURI(),
		UserAgent:                r.UserAgent(),
		RequestReceivedTimestamp: metav1.NewMicroTime(r.Received),
	}}
	if len(e.event.UserAgent) > maxUserAgent {
		e.event.UserAgent = e.event.UserAgent[:maxUserAgent] + truncatedSuffix
	}
	for _, ip := range utilnet.SourceIPs(r.Request) {
		e.event.SourceIPs = append(e.event.SourceIPs, ip.String())
	}
	if r.Access.User != nil {
		e.event.User = *r.Access.User
	}
	e.setAccess(r.Access)
	return e
}

func (e *Event) setAccess(access registry.Access) {
	resource := access.Resource
	if resource == nil {
		e.event.Verb = access.NonResource.Verb
		return
	}
	e.event.Verb = resource.Verb
	e.event.ObjectRef = &auditv1.ObjectReference{
		Namespace: resource.Namespace, Name: resource.Name, Resource: resource.Resource,
		Subresource: resource.Subresource, APIGroup: resource.Group, APIVersion: resource.Version,
	}
}

// Stage writes the event at a stage, unless the policy omits the stage.
func (e *Event) Stage(stage auditv1.Stage) {
	if e == nil || slices.Contains(e.config.OmitStages, auditapi.Stage(stage)) {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.event.Stage, e.event.StageTimestamp = stage, metav1.NowMicro()
	if stage == RequestReceived {
		e.event.StageTimestamp = e.event.RequestReceivedTimestamp
	}
	e.event.Annotations = e.annotations.All()
	e.log.write(&e.event)
}

// SetCode sets the code of the response.
func (e *Event) SetCode(code int) {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.event.ResponseStatus == nil {
		e.event.ResponseStatus = &metav1.Status{}
	}
	e.event.ResponseStatus.Code = int32(code)
}

// SetStatus sets the Status of the response.
func (e *Event) SetStatus(s metav1.Status) {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.event.ResponseStatus = &metav1.Status{Status: s.Status, Message: s.Message, Reason: s.Reason, Details: s.Details, Code: s.Code}
}

// Answered reports whether the event has a code or a Status.
func (e *Event) Answered() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.event.ResponseStatus != nil
}

// SetImpersonatedUser sets the user that the authenticated user acts as.
func (e *Event) SetImpersonatedUser(user *authenticationv1.UserInfo) {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.event.ImpersonatedUser = user.DeepCopy()
}

// SetImpersonationConstraint sets the verb of the mode that permits the impersonation.
func (e *Event) SetImpersonationConstraint(verb string) {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.event.AuthenticationMetadata = &auditv1.AuthenticationMetadata{ImpersonationConstraint: verb}
}

// HasRequest reports whether the event contains the object of the request.
func (e *Event) HasRequest() bool {
	return e != nil && !e.config.Level.Less(auditapi.LevelRequest)
}

// HasResponse reports whether the event contains the object of the response.
func (e *Event) HasResponse() bool {
	return e != nil && !e.config.Level.Less(auditapi.LevelRequestResponse)
}

// SetRequestMeta adds the metadata of the object in the request to the reference of the event.
func (e *Event) SetRequestMeta(object metav1.Object) {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	ref := e.event.ObjectRef
	if ref == nil {
		return
	}
	if ref.Namespace == "" {
		ref.Namespace = object.GetNamespace()
	}
	if ref.Name == "" {
		ref.Name = object.GetName()
	}
	ref.UID, ref.ResourceVersion = object.GetUID(), object.GetResourceVersion()
}

// SetRequest sets the object of the request, in JSON.
func (e *Event) SetRequest(document []byte) {
	if !e.HasRequest() {
		return
	}
	e.setBody(&e.event.RequestObject, document)
}

// SetResponse sets the object of the response, in JSON.
func (e *Event) SetResponse(document []byte) {
	if !e.HasResponse() {
		return
	}
	e.setBody(&e.event.ResponseObject, document)
}

func (e *Event) setBody(field **runtime.Unknown, document []byte) {
	if len(document) > MaxBody {
		e.Truncate()
		return
	}
	if e.config.OmitManagedFields {
		document = withoutManagedFields(document)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	*field = &runtime.Unknown{Raw: slices.Clone(document), ContentType: runtime.ContentTypeJSON}
}

// Truncate marks the event as an event without the object of a request or a response that is larger
// than MaxBody.
func (e *Event) Truncate() { e.annotations.Add(truncatedKey, "true") }
