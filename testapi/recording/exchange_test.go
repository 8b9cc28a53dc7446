package recording_test

import (
	"strings"
	"testing"

	"github.com/miniapi/miniapi/testapi/recording"
)

func TestReadNamesTheError(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"another file", "kind: ConfigMap\n", `it does not begin with the line "recording: 1" of miniapi record`},
		{"another version", "recording: 2\n", `it does not begin with the line "recording: 1" of miniapi record`},
		{"no path", "recording: 1\n---\nrequest: GET\ncode: 200\n", `exchange 1: request "GET" is not a method and a path`},
		{"an unknown field", "recording: 1\n---\nrequest: GET /api/v1/pods\nbodi: {}\ncode: 200\n", `exchange 1: error unmarshaling JSON: while decoding JSON: json: unknown field "bodi"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := recording.Read(strings.NewReader(tc.text))
			if err == nil || err.Error() != tc.want {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}
