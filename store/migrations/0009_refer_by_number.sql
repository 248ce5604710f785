-- Rows of executions and firings, and their index entries, refer to blueprints,
-- organizations, users and triggers by seq instead of by id; a firing without a key of
-- its sender has none; the counter of firings is kept by the store.

ALTER TABLE organizations RENAME TO organizations_8;
CREATE TABLE organizations (
  seq        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE CHECK (length(id) = 36),
  name       TEXT NOT NULL CHECK (name <> ''),
  slug       TEXT NOT NULL UNIQUE CHECK (slug <> ''),
  personal   INTEGER NOT NULL CHECK (personal IN (0, 1)),
  created_by TEXT NOT NULL REFERENCES users (id),
  created_at INTEGER NOT NULL
) STRICT;
INSERT OR FAIL INTO organizations (seq, id, name, slug, personal, created_by, created_at)
  SELECT rowid, id, name, slug, personal, created_by, created_at FROM organizations_8 ORDER BY rowid;
DROP TABLE organizations_8;
CREATE UNIQUE INDEX organizations_personal ON organizations (created_by) WHERE personal = 1;

ALTER TABLE firings RENAME TO firings_8;
CREATE TABLE firings (
  seq          INTEGER PRIMARY KEY,
  id           TEXT NOT NULL UNIQUE CHECK (length(id) = 26),
  trigger_seq  INTEGER NOT NULL REFERENCES triggers (seq),
  source       TEXT NOT NULL CHECK (source = 'webhook' OR source = 'schedule' OR source = 'event' OR source = 'api' OR source = 'manual' OR source = 'email' OR source = 'slack' OR source = 'redelivery'),
  key          TEXT CHECK (key <> '' AND key <> id),
  due_at       INTEGER,
  received_at  INTEGER NOT NULL,
  decision     TEXT NOT NULL CHECK (decision = 'started' OR decision = 'duplicate' OR decision = 'skipped' OR decision = 'refused' OR decision = 'coalesced'),
  reason_code  TEXT NOT NULL,
  sealed_reason BLOB,
  execution_id TEXT,
  sealed_body_hash BLOB,
  redelivery_of TEXT CHECK (redelivery_of IS NULL OR source = 'redelivery'),
  sealed_delivery BLOB,
  CHECK (decision <> 'started' OR execution_id IS NOT NULL)
) STRICT;
INSERT OR FAIL INTO firings (seq, id, trigger_seq, source, key, due_at, received_at, decision, reason_code, sealed_reason, execution_id, sealed_body_hash, redelivery_of, sealed_delivery)
  SELECT f.seq, f.id, (SELECT t.seq FROM triggers t WHERE t.id = f.trigger_id), f.source, nullif(f.key, f.id), f.due_at, f.received_at, f.decision, f.reason_code,
    f.sealed_reason, f.execution_id, f.sealed_body_hash, f.redelivery_of, f.sealed_delivery
  FROM firings_8 f ORDER BY f.seq;
DROP TABLE firings_8;
CREATE UNIQUE INDEX firings_started ON firings (trigger_seq, key) WHERE decision = 'started' AND key IS NOT NULL;
CREATE INDEX firings_trigger ON firings (trigger_seq);
CREATE INDEX firings_unstarted ON firings (trigger_seq, decision) WHERE decision <> 'started';
CREATE INDEX firings_redelivered ON firings (redelivery_of) WHERE redelivery_of IS NOT NULL;

ALTER TABLE firing_counts RENAME TO firing_counts_8;
CREATE TABLE firing_counts (
  trigger_seq INTEGER PRIMARY KEY REFERENCES triggers (seq),
  firings     INTEGER NOT NULL CHECK (firings >= 0)
) STRICT;
INSERT OR FAIL INTO firing_counts (trigger_seq, firings)
  SELECT t.seq, c.firings FROM firing_counts_8 c JOIN triggers t ON t.id = c.trigger_id ORDER BY t.seq;
DROP TABLE firing_counts_8;

ALTER TABLE executions RENAME TO executions_8;
DROP INDEX IF EXISTS executions_blueprint;
DROP INDEX IF EXISTS executions_organization;
DROP INDEX IF EXISTS executions_user;
DROP INDEX IF EXISTS executions_unfinished;
DROP INDEX IF EXISTS executions_ended;
DROP INDEX IF EXISTS executions_failed;
CREATE TABLE executions (
  seq                 INTEGER PRIMARY KEY,
  id                  TEXT NOT NULL UNIQUE CHECK (id <> ''),
  log_id              TEXT CHECK (log_id <> ''),
  blueprint_seq       INTEGER NOT NULL,
  blueprint_version   TEXT NOT NULL,
  organization_seq    INTEGER NOT NULL,
  user_seq            INTEGER NOT NULL,
  trigger_seq         INTEGER,
  firing_id           TEXT,
  parent_execution_id TEXT,
  status              TEXT NOT NULL CHECK (status = 'completed' OR status = 'failed' OR status = 'running' OR status = 'paused'),
  created_at          INTEGER NOT NULL,
  updated_at          INTEGER NOT NULL,
  start_time          INTEGER NOT NULL,
  end_time            INTEGER,
  record              BLOB,
  state               BLOB,
  CHECK ((status = 'completed' OR status = 'failed') = (end_time IS NOT NULL)),
  CHECK ((end_time IS NULL) = (record IS NULL)),
  CHECK (state IS NULL OR record IS NOT NULL)
) STRICT;
-- They are filled in the order of the rows: made afterwards, each would read all records.
CREATE INDEX executions_blueprint ON executions (blueprint_seq, created_at);
CREATE INDEX executions_organization ON executions (organization_seq, created_at);
CREATE INDEX executions_user ON executions (user_seq, created_at);
CREATE INDEX executions_unfinished ON executions (created_at) WHERE end_time IS NULL;
CREATE INDEX executions_completed ON executions (end_time) WHERE status = 'completed';
CREATE INDEX executions_failed ON executions (end_time) WHERE status = 'failed';
CREATE INDEX executions_trigger ON executions (trigger_seq, end_time) WHERE status = 'failed' AND trigger_seq IS NOT NULL;
INSERT OR FAIL INTO executions (seq, id, log_id, blueprint_seq, blueprint_version, organization_seq, user_seq, trigger_seq, firing_id, parent_execution_id,
    status, created_at, updated_at, start_time, end_time, record, state)
  SELECT e.seq, e.id, e.log_id, (SELECT b.seq FROM blueprints b WHERE b.id = e.blueprint_id), e.blueprint_version,
    (SELECT o.seq FROM organizations o WHERE o.id = e.organization_id), (SELECT u.seq FROM users u WHERE u.id = e.user_id),
    (SELECT t.seq FROM triggers t WHERE t.id = e.trigger_id), e.firing_id, e.parent_execution_id,
    e.status, e.created_at, e.updated_at, e.start_time, e.end_time, e.record, e.state
  FROM executions_8 e ORDER BY e.seq;
DROP TABLE executions_8;
CREATE TRIGGER executions_terminal BEFORE UPDATE OF status, end_time ON executions
WHEN OLD.end_time IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'the execution has ended');
END;
