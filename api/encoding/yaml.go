package encoding

import (
	"encoding/json"
	"io"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// yamlBatch is the size in bytes of the JSON that yamlList converts at once. A batch has at least
// one item.
const yamlBatch = 64 << 10

// rewriteFactor is the memory that the conversion to YAML takes, per byte of JSON: the JSON is
// decoded to maps.
const rewriteFactor = 5

// reserveList reserves the memory that the list of a media type takes, with the largest item.
func (m *MediaType) reserveList(r *http.Request, l List) error {
	if m.listBytes == 0 {
		return nil
	}
	return reserve(r, rewriteFactor*(m.listBytes+l.Largest))
}

// yamlList writes a list with the keys in the order of YAML, which is alphabetical. The
// result has the same bytes as a list that is converted as a whole.
func yamlList(w io.Writer, l List) error {
	meta, err := json.Marshal(l.metadata())
	if err != nil {
		return err
	}
	type fields map[string]any
	before, after := fields{"apiVersion": l.Header.APIVersion}, fields{"kind": l.Header.Kind, "metadata": json.RawMessage(meta)}
	if l.columns != nil {
		before["columnDefinitions"], before["kind"], before["metadata"] = json.RawMessage(l.columns), after["kind"], after["metadata"]
		after = nil
	}
	if err := writeYAML(w, before); err != nil {
		return err
	}
	if err := writeYAMLItems(w, l); err != nil || len(after) == 0 {
		return err
	}
	return writeYAML(w, after)
}

// writeYAML writes a value that JSON can encode.
func writeYAML(w io.Writer, value any) error {
	document, err := yaml.Marshal(value)
	if err != nil {
		return err
	}
	_, err = w.Write(document)
	return err
}

// writeYAMLItems writes the field of a list that has its items.
func writeYAMLItems(w io.Writer, l List) error {
	if l.isNull() {
		return writeYAML(w, map[string]any{l.itemsKey(): nil})
	}
	items := yamlItems{w: w, key: l.itemsKey()}
	for b, err := range l.Items {
		if err == nil {
			err = items.add(l.ItemHeader, b.bytes)
		}
		if err != nil {
			return err
		}
	}
	return items.end()
}

// yamlItems converts the items of a list in batches. Each batch is converted as the only field of a
// map, so that its lines are indented and folded as in the whole list.
type yamlItems struct {
	w     io.Writer
	key   string
	batch []byte // the JSON of the map without its end, empty without items
	begun bool   // the key has been written
}

func (y *yamlItems) add(header metav1.TypeMeta, body []byte) error {
	if len(y.batch) == 0 {
		y.open()
	} else {
		y.batch = append(y.batch, ',')
	}
	start, rest := appendJSONStart(y.batch, header, body)
	if y.batch = append(start, rest...); len(y.batch) < yamlBatch {
		return nil
	}
	return y.flush()
}

func (y *yamlItems) open() {
	y.batch = append(append(append(y.batch, `{"`...), y.key...), `":[`...)
}

// end writes the last batch, or the field of an empty list.
func (y *yamlItems) end() error {
	if len(y.batch) == 0 && y.begun {
		return nil
	}
	if len(y.batch) == 0 {
		y.open()
	}
	return y.flush()
}

func (y *yamlItems) flush() error {
	converted, err := yaml.JSONToYAML(append(y.batch, `]}`...))
	if err != nil {
		return err
	}
	if y.begun {
		converted = converted[len(y.key)+len(":\n"):]
	}
	y.batch, y.begun = y.batch[:0], true
	_, err = y.w.Write(converted)
	return err
}
