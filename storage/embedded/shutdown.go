package embedded

import "errors"

// shutdown ends etcd and releases the data directory.
func (s *Server) shutdown() {
	defer close(s.closed)
	s.stop()
	i, _ := s.current()
	if i.hasFailed() {
		<-s.done // restart may replace the instance until then
		i, _ = s.current()
	}
	err := i.stop()
	if err == nil {
		<-s.done
	}
	_ = s.client.Close() // see newForwardingClient
	s.closeErr = errors.Join(err, s.dir.close())
}
