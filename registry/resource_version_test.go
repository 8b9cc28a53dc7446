package registry

import "testing"

func TestDecideVersion(t *testing.T) {
	for _, c := range []struct {
		rule              string
		proposed, current int64
		policy            versionPolicy
		want              versionVerdict
	}{
		{"the stored version proceeds", 7, 7, versionRequired, versionProceed},
		{"the stored version proceeds if the version is optional", 7, 7, versionOptional, versionProceed},
		{"an older version conflicts", 6, 7, versionRequired, versionConflict},
		{"an older version conflicts if the version is optional", 6, 7, versionOptional, versionConflict},
		{"a future version conflicts", 8, 7, versionOptional, versionConflict},
		{"no version adopts the stored one if the version is optional", 0, 7, versionOptional, versionAdopt},
		{"no version is missing if the version is required", 0, 7, versionRequired, versionMissing},
	} {
		t.Run(c.rule, func(t *testing.T) {
			if got := decideVersion(c.proposed, c.current, c.policy); got != c.want {
				t.Errorf("decideVersion(%d, %d, %d) = %d, want %d", c.proposed, c.current, c.policy, got, c.want)
			}
		})
	}
}
