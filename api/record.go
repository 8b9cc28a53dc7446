package api

import (
	"bytes"
	"encoding/json"
	"path"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/miniapi/miniapi/storage"
)

// recordName records the name in the body of a create, whose path has no name.
func (c *call) recordName(obj runtime.Object) {
	if c.record == nil || c.Name != "" {
		return
	}
	if accessor, err := meta.Accessor(obj); err == nil {
		c.record.SetName(accessor.GetName())
	}
}

// recordGeneratedName records the name of a created object, which may have been generated.
func (c *call) recordGeneratedName(created *storage.Entry) {
	if c.record != nil && c.Name == "" && created.Key != "" {
		c.record.SetName(path.Base(created.Key))
	}
}

// setSentVersion sets the resourceVersion in the body of a write, for the record of the request and
// the journal of writes.
func (c *call) setSentVersion(version string) {
	c.sentVersion = version
	c.record.SetResourceVersion(version)
}

// recordPatch sets the resourceVersion in a patch.
func (c *call) recordPatch(data []byte) {
	recorded := c.record != nil || c.server.config.TestAPIs != nil
	if recorded && bytes.Contains(data, []byte("resourceVersion")) {
		c.setSentVersion(patchedVersion(data))
	}
}

// patchedVersion returns the resourceVersion that a patch contains: a merge patch or an apply
// configuration in metadata.resourceVersion, a JSON patch in an operation. It returns "" if there
// is none or if the patch is malformed.
func patchedVersion(data []byte) string {
	var operations []operation
	if json.Unmarshal(data, &operations) == nil {
		for _, operation := range operations {
			if version, ok := operation.Value.(string); ok && operation.Path == "/metadata/resourceVersion" {
				return version
			}
		}
		return ""
	}
	var object struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	if yaml.Unmarshal(data, &object) != nil {
		return ""
	}
	return object.Metadata.ResourceVersion
}
