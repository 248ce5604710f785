package store

import "context"

// Ping asks the writer for a transaction that changes nothing, and returns when
// it was made: the writer is alive, and the database can be locked. It costs no
// access to the disk that waits for it.
func (s *Store) Ping(ctx context.Context) (err error) {
	defer wrap(&err, "ping")
	return s.submit(ctx, &job{run: func(*transaction) error { return nil }, single: true})
}
