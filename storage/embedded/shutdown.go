package embedded

import "errors"

// shutdown ends etcd and gives the data directory up.
func (s *Server) shutdown() {
	defer close(s.closed)
	s.stop()
	i, _ := s.current()
	if i.hasFailed() {
		<-s.done // or else another instance may take its place meanwhile
		i, _ = s.current()
	}
	err := i.stop()
	if err == nil {
		<-s.done
	}
	_ = s.client.Close() // see newForwarder
	s.closeErr = errors.Join(err, s.dir.close())
}
