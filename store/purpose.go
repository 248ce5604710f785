package store

// IsSandbox tells whether the database is a sandbox's: fakes answered what its runs
// sent.
func (s *Store) IsSandbox() bool { return s.sandbox }

// settlePurpose keeps a database that is in earnest from a server that plays, and
// the other way round: what fakes answered would be used as if it were real, such
// as the tokens of connections, and what happened in the future of a virtual clock
// would keep schedules from running. The first server that takes a file decides. A
// virtual clock over real history is let in, to try what will be; but no history is
// too old for it, for it would be erased when the clock is moved past it.
func (o *Options) settlePurpose(t *transaction) error {
	if o.Ephemeral || o.anyKind {
		return nil
	}
	var epoch int64
	var sandbox, virtual bool
	if err := t.row("SELECT epoch, sandbox, virtual_clock FROM meta WHERE id = 1", nil, &epoch, &sandbox, &virtual); err != nil {
		return err
	}
	if epoch == 0 {
		_, err := t.exec("UPDATE meta SET sandbox = ?, virtual_clock = ? WHERE id = 1", o.Sandbox, o.VirtualClock)
		return err
	}
	switch {
	case o.Sandbox && !sandbox:
		return refusal("leave --sandbox out (BLUEPRINTD_SANDBOX is the same), or take a new database for the sandbox: --db sandbox.db, or --ephemeral",
			"the database is in earnest: in a sandbox its runs would go on with fakes, and its connections keep tokens of fakes")
	case sandbox && !o.Sandbox:
		return refusal("add --sandbox, or name another database with --db", "the database is a sandbox's: fakes made the tokens and answers in it")
	case o.VirtualClock && !virtual:
		o.Logger.Warn("the clock is virtual, and the database has kept real time: no history is pruned for its age", "hint", "leave --clock out to go on in real time; work on a copy to try things")
		o.KeepExecutions.Age, o.KeepFirings.Age, o.KeepAudit.Age = 0, 0, 0
	case virtual && !o.VirtualClock:
		return refusal("add --clock virtual=RFC3339, or name another database with --db", "the times in the database are those of a virtual clock")
	}
	return nil
}
