package api

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/miniapi/miniapi/api/encoding"
)

// auditObject adds an object of the hub version, the body of a request, to the audit log. As in
// kube-apiserver, it has the defaults of its version.
func (c *call) auditObject(obj runtime.Object) {
	if c.audit == nil {
		return
	}
	if accessor, err := meta.Accessor(obj); err == nil {
		c.audit.SetRequestMeta(accessor)
	}
	if !c.audit.HasRequest() {
		return
	}
	converted, err := c.fromHub(obj)
	if err != nil {
		return // the write has the same error
	}
	if document, err := encoding.JSON(c.header(), converted); err == nil {
		c.audit.SetRequest(document)
	}
}

// auditPatch adds a patch to the audit log.
func (c *call) auditPatch(contentType types.PatchType, data []byte) {
	if !c.audit.HasRequest() {
		return
	}
	var err error
	switch contentType {
	case types.ApplyYAMLPatchType:
		data, err = yaml.YAMLToJSON(data)
	case types.ApplyCBORPatchType:
		var value any
		if err = direct.Unmarshal(data, &value); err == nil {
			data, err = json.Marshal(value)
		}
	}
	if err == nil { // otherwise the request is rejected
		c.audit.SetRequest(data)
	}
}

// auditDeleteOptions adds the body of a DELETE to the audit log.
func (c *call) auditDeleteOptions(options *metav1.DeleteOptions) {
	if !c.audit.HasRequest() {
		return
	}
	header := options.TypeMeta
	if header.Kind == "" {
		header = encoding.TypeHeader(metav1.SchemeGroupVersion.WithKind("DeleteOptions"))
	}
	if document, err := encoding.JSON(header, options); err == nil {
		c.audit.SetRequest(document)
	}
}
