package api

import (
	"bytes"
	"io"
)

// indenter writes compact, valid JSON to w as json.Indent formats it with an
// indent of two spaces. The JSON may arrive in pieces of any size, so that a
// pretty-printed list is never in memory as a whole.
type indenter struct {
	w     io.Writer
	depth int
	// opened: the last token opened an object or an array, which stays on its
	// line if it is empty.
	opened bool
	// inString and escaped: the position is in a string, behind a backslash.
	inString, escaped bool
	buf               []byte // of one Write
}

func newIndenter(w io.Writer) io.Writer { return &indenter{w: w} }

// indentJSON returns a JSON document indented.
func indentJSON(document []byte) []byte {
	var out bytes.Buffer
	out.Grow(len(document) + len(document)/2)
	_, _ = newIndenter(&out).Write(document) // a buffer takes everything
	return out.Bytes()
}

// indentChunk bounds the input that is formatted between two writes, and so the
// memory of an indenter.
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

// text copies the part of a string that data begins with, and returns the rest.
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
