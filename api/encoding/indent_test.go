package encoding

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"
	"testing/iotest"
)

// checkIndent compares indenter with json.Indent, for the whole document and byte by byte.
func checkIndent(t *testing.T, document []byte) {
	t.Helper()
	var want bytes.Buffer
	if err := json.Indent(&want, bytes.TrimSuffix(document, []byte("\n")), "", "  "); err != nil {
		return // not JSON
	}
	// json.Indent keeps the whitespace after the document.
	wanted := bytes.TrimRight(want.Bytes(), " \t\r\n")
	if got := indentJSON(document); !bytes.Equal(got, wanted) {
		t.Errorf("%q becomes\n%s\nwant\n%s", document, got, wanted)
	}
	var pieces bytes.Buffer
	if _, err := io.CopyBuffer(struct{ io.Writer }{newIndenter(&pieces)}, struct{ io.Reader }{iotest.OneByteReader(bytes.NewReader(document))}, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(pieces.Bytes(), wanted) {
		t.Errorf("%q in pieces becomes\n%s\nwant\n%s", document, pieces.Bytes(), wanted)
	}
}

func FuzzIndent(f *testing.F) {
	for _, body := range append(jsonBodies,
		`{"kind":"List","items":[{"a":{}},{"b":[]},[[]],{"c":[1,-2.5e3,true,false,null]}]}`+"\n",
		`{"a":"quote \" and backslash \\","b\\":"{[,:]}\u2028"}`,
		" [ 1 , 2 ] \n", `[[[[]]],{}]`,
	) {
		f.Add([]byte(body))
	}
	f.Add(append(append([]byte(`["`), bytes.Repeat([]byte(`\"x`), indentChunk)...), `"]`...))
	f.Fuzz(checkIndent)
}
