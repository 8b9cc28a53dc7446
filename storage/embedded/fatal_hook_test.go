package embedded

import (
	"errors"
	"testing"
	"time"

	"go.uber.org/zap"
)

func TestFatalAndPanicEndTheServerOnly(t *testing.T) {
	cause := errors.New("disk on fire")
	for name, giveUp := range map[string]func(*zap.Logger){
		"fatal": func(l *zap.Logger) { l.Fatal("cannot go on", zap.Error(cause)) },
		"panic": func(l *zap.Logger) { l.Panic("cannot go on", zap.Int("n", 1), zap.Error(cause)) },
	} {
		t.Run(name, func(t *testing.T) {
			server, err := Start(t.Context(), Config{})
			if err != nil {
				t.Fatal(err)
			}
			if err := server.Err(); err != nil {
				t.Errorf("running, but Err is %v", err)
			}
			server.instance.giveUpTimeout = time.Minute // nothing deadlocks
			go giveUp(server.instance.etcd.Logger().Named("part").With(zap.String("of", "etcd")))
			<-server.Done()
			if err := server.Err(); !errors.Is(err, cause) || err.Error() != "embedded etcd gave up: cannot go on: disk on fire" {
				t.Errorf("Err is %v", err)
			}
			if err := server.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}
