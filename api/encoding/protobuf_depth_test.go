package encoding

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// nested returns a protobuf message with depth nested messages, each in the field with this tag,
// and a number in the innermost one.
func nested(tag []byte, depth int) []byte {
	reversed := []byte{0, 1 << 3}
	for range depth {
		field := protowire.AppendVarint(slices.Clone(tag), uint64(len(reversed)))
		slices.Reverse(field)
		reversed = append(reversed, field...)
	}
	slices.Reverse(reversed)
	return reversed
}

func TestExceedsMessageDepth(t *testing.T) {
	plain := protowire.AppendTag(nil, 29, protowire.BytesType)
	inGroup := slices.Concat(protowire.AppendTag(nil, 99, protowire.StartGroupType), protowire.AppendTag(nil, 99, protowire.EndGroupType), plain)
	afterText := slices.Concat(protowire.AppendTag(nil, 5, protowire.BytesType), protowire.AppendString(nil, "\x0a\xff text"), plain)
	afterNumbers := slices.Concat([]byte{1 << 3, 0x80, 0x01, 2<<3 | 1, 0, 0, 0, 0, 0, 0, 0, 0, 3<<3 | 5, 0, 0, 0, 0}, plain)
	// Decoders drop 2^35, which does not fit into a field number.
	tooLong := protowire.AppendVarint(nil, 1<<35|29<<3|uint64(protowire.BytesType))
	for name, tag := range map[string][]byte{
		"plain": plain, "after a group": inGroup, "after text": afterText, "after numbers": afterNumbers, "a tag with too many bits": tooLong,
	} {
		t.Run(name, func(t *testing.T) {
			if exceedsMessageDepth(nested(tag, maxMessageDepth)) {
				t.Error("the maximum depth is rejected")
			}
			if !exceedsMessageDepth(nested(tag, maxMessageDepth+1)) {
				t.Error("one level more is accepted")
			}
		})
	}
	for name, data := range map[string]string{
		"empty": "", "zeros": strings.Repeat("\x00", 1<<20), "lines": strings.Repeat("\n", 1<<20), "text": strings.Repeat("text, ", 1<<18), "half a tag": "\xff",
	} {
		if exceedsMessageDepth([]byte(data)) {
			t.Errorf("%s: rejected", name)
		}
	}
}
