package audit

import (
	"bytes"
	"encoding/json"
)

// withoutManagedFields returns a JSON document without metadata.managedFields: of an object, of the
// items of a list, or of the objects in the rows of a Table. A document that is not an object
// stays.
func withoutManagedFields(document []byte) []byte {
	if !bytes.Contains(document, []byte(`"managedFields"`)) {
		return document
	}
	var object map[string]any
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	if decoder.Decode(&object) != nil {
		return document
	}
	removeManagedFields(object)
	for _, item := range list(object["items"]) {
		removeManagedFields(item)
	}
	for _, row := range list(object["rows"]) {
		if row, ok := row.(map[string]any); ok {
			removeManagedFields(row["object"])
		}
	}
	out, err := json.Marshal(object)
	if err != nil {
		return document
	}
	return out
}

func removeManagedFields(value any) {
	if object, ok := value.(map[string]any); ok {
		if metadata, ok := object["metadata"].(map[string]any); ok {
			delete(metadata, "managedFields")
		}
	}
}

func list(value any) []any {
	items, _ := value.([]any)
	return items
}
