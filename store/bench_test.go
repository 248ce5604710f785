package store

import (
	"bytes"
	"context"
	"sync/atomic"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

// BenchmarkCommit stores finished runs of 1 KB from 32 writers at once.
func BenchmarkCommit(b *testing.B) {
	for _, ephemeral := range []bool{false, true} {
		b.Run(map[bool]string{false: "file", true: "ephemeral"}[ephemeral], func(b *testing.B) {
			options := testOptions(b)
			options.Ephemeral, options.Clock = ephemeral, clock.Real{}
			s := open(b, options)
			stop := run(b, s)
			ann := user(b, s, "ann")
			made := create(b, s, ann, "bench")
			record := bytes.Repeat([]byte("x"), 1024)
			b.SetParallelism(16) // times GOMAXPROCS
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := s.Commit(context.Background(), finished(s, made, ann, record)); err != nil {
						b.Error(err)
					}
				}
			})
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
			check(b, stop())
		})
	}
}

// BenchmarkExecution reads stored runs of 1 KB, one at a time.
func BenchmarkExecution(b *testing.B) {
	bench := func(b *testing.B, options Options) {
		options.Clock = clock.Real{}
		s := open(b, options)
		stop := run(b, s)
		ann := user(b, s, "ann")
		made := create(b, s, ann, "bench")
		ids := make([]string, 1000)
		for i := range ids {
			c := finished(s, made, ann, bytes.Repeat([]byte("x"), 1024))
			ids[i] = c.Row.ID
			check(b, s.Commit(context.Background(), c))
		}
		b.ReportAllocs()
		b.ResetTimer()
		for i := range b.N {
			if _, _, err := s.Execution(context.Background(), ann, ids[i%len(ids)]); err != nil {
				b.Fatal(err)
			}
		}
		b.StopTimer()
		check(b, stop())
	}
	b.Run("file", func(b *testing.B) { bench(b, testOptions(b)) })
	if remoteDatabase != nil {
		b.Run("PostgreSQL", func(b *testing.B) {
			options := testOptions(b)
			options.Database = remoteDatabase(b)
			bench(b, options)
		})
	}
}

// BenchmarkCommitDelivery stores finished runs of 1 KB with their firing and its
// delivery, from 32 writers at once.
func BenchmarkCommitDelivery(b *testing.B) {
	options := testOptions(b)
	options.Clock = clock.Real{}
	s := open(b, options)
	stop := run(b, s)
	ann := user(b, s, "ann")
	made := create(b, s, ann, "bench")
	trigger, err := s.CreateTrigger(context.Background(), ann, made.ID, blueprint.TriggerWebhook, nil)
	check(b, err)
	record, body := bytes.Repeat([]byte("x"), 900), bytes.Repeat([]byte("y"), 222)
	b.SetParallelism(16) // times GOMAXPROCS
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			c := finished(s, made, ann, record)
			f := firing(s, trigger, "")
			f.Key, f.Decision, f.ExecutionID, f.Delivery = f.ID, blueprint.DecisionStarted, &c.Row.ID, &blueprint.Delivery{Body: body}
			c.Firing, c.Row.FiringID, c.Row.TriggerID = &f, f.ID, f.TriggerID
			if err := s.Commit(context.Background(), c); err != nil {
				b.Error(err)
			}
		}
	})
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	check(b, stop())
}

// BenchmarkBareInsert is the ceiling for BenchmarkCommit: rows of the same
// size, without indices, 64 to a transaction.
func BenchmarkBareInsert(b *testing.B) {
	options := testOptions(b)
	s := open(b, options)
	q := s.writer.session
	if _, err := q.exec("CREATE TABLE bare (seq INTEGER PRIMARY KEY, record BLOB) STRICT"); err != nil {
		b.Fatal(err)
	}
	record := bytes.Repeat([]byte("x"), 1024+330)
	b.ResetTimer()
	for i := 0; i < b.N; i += 64 {
		_, _ = q.exec("BEGIN IMMEDIATE")
		for range min(64, b.N-i) {
			if _, err := q.exec("INSERT INTO bare (record) VALUES (?)", record); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := q.exec("COMMIT"); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkAuthenticate measures a known key: alone, and among 32 at once, who
// share the reading of the generation.
func BenchmarkAuthenticate(b *testing.B) {
	options := testOptions(b)
	s := open(b, options)
	ann := user(b, s, "ann")
	must(s.CreateKey(context.Background(), ann.UserID, "key", "bench-token"))(b)
	b.Run("alone", func(b *testing.B) {
		for range b.N {
			if _, err := s.Authenticate(context.Background(), "bench-token"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("shared", func(b *testing.B) {
		read := s.gate.read
		var reads atomic.Int64
		s.gate.read = func() (int64, error) {
			reads.Add(1)
			return read()
		}
		b.SetParallelism(16)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := s.Authenticate(context.Background(), "bench-token"); err != nil {
					b.Error(err)
				}
			}
		})
		s.gate.read = read
		b.ReportMetric(float64(reads.Load())/float64(b.N), "reads/op")
	})
}
