package miniapi

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/miniapi/miniapi/storage"
)

// describeTimeout limits the reads for the error of a call whose ctx has ended.
const describeTimeout = 2 * time.Second

// maxStateLines is the maximum number of lines of an object in an error.
const maxStateLines = 60

// describeWait returns the reason, the last write and the last state of a wait that has failed,
// each after a line break.
func (s *Server) describeWait(w *wait) string {
	text := "\n\t" + cmp.Or(w.reason, "the object could not be read")
	if w.latest == nil && w.deleted != nil {
		return text + s.describeWriter("it was deleted", w.deleted)
	}
	if w.object == nil {
		return text
	}
	return text + s.describeWriter("last write", w.latest) + "\n\tlast state:" + indentedState(w.object)
}

// describeWriter returns a line, after a line break, about the write of an entry.
func (s *Server) describeWriter(event string, entry *storage.Entry) string {
	text := fmt.Sprintf("\n\t%s: resourceVersion %d", event, entry.Revision)
	w := s.testAPIs.WriteOf(context.Background(), entry.Key, entry.Revision)
	if w == nil {
		return text
	}
	verb := strings.TrimSpace(w.Verb + " " + w.Subresource)
	by := cmp.Or(w.FieldManager, w.UserAgent, w.User, "the server")
	if w.User != "" && w.User != by {
		by += " (" + w.User + ")"
	}
	return fmt.Sprintf("%s, %s by %s %v ago", text, cmp.Or(verb, "write"), by, time.Since(w.Time).Round(time.Millisecond))
}

// indentedState returns the YAML of an object without managedFields, each line after a line break.
func indentedState(obj *unstructured.Unstructured) string {
	obj = obj.DeepCopy()
	obj.SetManagedFields(nil)
	data, err := yaml.Marshal(obj.Object)
	if err != nil {
		return " " + err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	if more := len(lines) - maxStateLines; more > 0 {
		lines = append(lines[:maxStateLines], fmt.Sprintf("# %d more lines", more))
	}
	var text strings.Builder
	for _, line := range lines {
		text.WriteString("\n\t  " + line)
	}
	return text.String()
}
