package encoding

import (
	"bytes"
	"encoding/json"
	"mime"
	"net/http"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/miniapi/miniapi/api/audit"
	"github.com/miniapi/miniapi/api/request"
)

// auditCopy copies the body of a response for the audit log.
type auditCopy struct {
	codec *Codec
	event *audit.Event
	body  bytes.Buffer
	large bool // the body is larger than audit.MaxBody
}

// newAuditCopy returns the copy of the response of a request, nil if the audit log does not have
// it. As in kube-apiserver, only requests for resources have objects.
func (p *Responder) newAuditCopy(r *http.Request) *auditCopy {
	if !p.config.Audit {
		return nil
	}
	info := request.InfoOf(r.Context())
	if info == nil || info.Form != request.ResourcePath || !info.Audit.HasResponse() {
		return nil
	}
	return &auditCopy{codec: p.Codec, event: info.Audit}
}

// add adds bytes that are sent to the client.
func (c *auditCopy) add(p []byte) {
	if c.body.Len()+len(p) > audit.MaxBody {
		c.large, c.body = true, bytes.Buffer{}
	}
	if !c.large {
		c.body.Write(p)
	}
}

// end adds the complete body to the event.
func (c *auditCopy) end(contentType string) {
	if c.large {
		c.event.Truncate()
		return
	}
	if document := c.codec.toJSON(contentType, c.body.Bytes()); document != nil {
		c.event.SetResponse(document)
	}
}

// toJSON converts a document to JSON. It returns nil if the document is not of a media type of the
// codec.
func (c *Codec) toJSON(contentType string, document []byte) []byte {
	mediaType, _, _ := mime.ParseMediaType(contentType)
	switch m, err := c.ForContentType(mediaType); {
	case err != nil:
		return nil
	case m.Type == runtime.ContentTypeJSON && json.Valid(document):
		return bytes.TrimSpace(document)
	case m.Type == runtime.ContentTypeYAML:
		converted, _ := yaml.YAMLToJSON(document) // nil if there is an error
		return converted
	default:
		return m.decodeToJSON(document)
	}
}

// decodeToJSON decodes a document with a type header and encodes it in JSON, nil if it cannot be
// decoded.
func (m *MediaType) decodeToJSON(document []byte) []byte {
	obj, kind, err := m.lax.Decode(document, nil, nil)
	if err != nil {
		return nil
	}
	if meta.IsListType(obj) && meta.LenList(obj) == 0 {
		_ = meta.SetList(obj, []runtime.Object{}) // the list is [], not null
	}
	converted, err := JSON(TypeHeader(*kind), obj)
	if err != nil {
		return nil
	}
	return bytes.TrimSpace(converted)
}
