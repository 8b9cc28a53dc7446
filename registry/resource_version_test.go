package registry

import "testing"

func TestDecideVersion(t *testing.T) {
	for _, c := range []struct {
		rule           string
		asked, current int64
		policy         versionPolicy
		want           versionVerdict
	}{
		{"the stored version is written to", 7, 7, versionRequired, versionProceed},
		{"the stored version is written to where none is needed", 7, 7, versionOptional, versionProceed},
		{"an older version conflicts", 6, 7, versionRequired, versionConflict},
		{"an older version conflicts where none is needed", 6, 7, versionOptional, versionConflict},
		{"a version from the future conflicts", 8, 7, versionOptional, versionConflict},
		{"no version adopts the stored one where the kind allows it", 0, 7, versionOptional, versionAdopt},
		{"no version is missing where the kind needs one", 0, 7, versionRequired, versionMissing},
	} {
		t.Run(c.rule, func(t *testing.T) {
			if got := decideVersion(c.asked, c.current, c.policy); got != c.want {
				t.Errorf("decideVersion(%d, %d, %d) = %d, want %d", c.asked, c.current, c.policy, got, c.want)
			}
		})
	}
}
