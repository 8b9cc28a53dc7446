package main

import (
	"strings"
	"testing"
	"time"
)

func TestRetentionOfHistory(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		want time.Duration
		text string
	}{
		"the default":            {nil, 5 * time.Minute, ""},
		"an hour":                {[]string{"--history=1h"}, time.Hour, ""},
		"for ever":               {[]string{"--history=0"}, -1, ""},
		"as in kube-apiserver":   {[]string{"--etcd-compaction-interval=1h"}, time.Hour, ""},
		"kube-apiserver, 0":      {[]string{"--etcd-compaction-interval=0"}, -1, ""},
		"both, equal":            {[]string{"--history=60m", "--etcd-compaction-interval=1h"}, time.Hour, ""},
		"both, different":        {[]string{"--history=1h", "--etcd-compaction-interval=2h"}, 0, "--history 1h0m0s and --etcd-compaction-interval 2h0m0s differ"},
		"too short":              {[]string{"--history=1ms"}, 0, "--history 1ms is too short"},
		"too short, other name":  {[]string{"--etcd-compaction-interval=1ms"}, 0, "--etcd-compaction-interval 1ms is too short"},
		"the default explicitly": {[]string{"--history=5m", "--etcd-compaction-interval=5m"}, 5 * time.Minute, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var opts options
			for _, set := range opts.flagSets() {
				if set.title == "Data" {
					if err := set.flags.Parse(test.args); err != nil {
						t.Fatal(err)
					}
				}
			}
			config, err := opts.config()
			if test.text == "" && (err != nil || config.CompactionInterval != test.want) {
				t.Errorf("%v, error %v, want %v", config.CompactionInterval, err, test.want)
			}
			if test.text != "" && (err == nil || !strings.Contains(err.Error(), test.text)) {
				t.Errorf("error %v, want %q", err, test.text)
			}
		})
	}
}
