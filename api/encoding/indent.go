package encoding

import (
	"bytes"
	"io"
)

// indenter writes valid JSON to w as json.Indent formats it with an indent of two spaces. The JSON
// may arrive in pieces of any size, so that an indented list is never in memory as a whole.
type indenter struct {
	w     io.Writer
	depth int
	// opened reports whether the last token opened an object or array. An empty one stays on its
	// line.
	opened bool
	// inString reports whether the position is in a string, escaped whether a backslash precedes
	// it.
	inString, escaped bool
	buf               []byte // output of one chunk
}

func newIndenter(w io.Writer) io.Writer { return &indenter{w: w} }

// indentJSON returns an indented copy of a JSON document.
func indentJSON(document []byte) []byte {
	var out bytes.Buffer
	out.Grow(len(document) + len(document)/2)
	_, _ = newIndenter(&out).Write(document) // writes to a buffer do not fail
	return out.Bytes()
}

// indentChunk is the size of the input that is formatted between two writes. It bounds the memory
// of an indenter.
const indentChunk = 4 << 10

// Write implements io.Writer.
func (i *indenter) Write(p []byte) (int, error) {
	written := 0
	for written < len(p) {
		chunk := p[written:min(len(p), written+indentChunk)]
		i.buf = i.buf[:0]
		for rest := chunk; len(rest) > 0; {
			if i.inString {
				rest = i.text(rest)
			} else {
				i.token(rest[0])
				rest = rest[1:]
			}
		}
		if _, err := i.w.Write(i.buf); err != nil {
			return written, err
		}
		written += len(chunk)
	}
	return written, nil
}

// text copies the part of a string at the beginning of data and returns the rest of data.
func (i *indenter) text(data []byte) []byte {
	if i.escaped {
		i.escaped = false
		i.buf = append(i.buf, data[0])
		return data[1:]
	}
	end := bytes.IndexAny(data, `"\`)
	if end < 0 {
		i.buf = append(i.buf, data...)
		return nil
	}
	i.escaped, i.inString = data[end] == '\\', data[end] != '"'
	i.buf = append(i.buf, data[:end+1]...)
	return data[end+1:]
}

// token writes a byte outside of strings.
func (i *indenter) token(b byte) {
	switch b {
	case ' ', '\t', '\r', '\n':
		return
	case '}', ']':
		i.depth--
		if !i.opened {
			i.newLine()
		}
		i.opened = false
		i.buf = append(i.buf, b)
		return
	}
	if i.opened {
		i.opened = false
		i.newLine()
	}
	i.buf = append(i.buf, b)
	switch b {
	case '{', '[':
		i.depth++
		i.opened = true
	case ',':
		i.newLine()
	case ':':
		i.buf = append(i.buf, ' ')
	case '"':
		i.inString = true
	}
}

func (i *indenter) newLine() {
	i.buf = append(i.buf, '\n')
	for range i.depth {
		i.buf = append(i.buf, "  "...)
	}
}
