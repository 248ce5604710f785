-- The whole schema of a blueprintd database, and the only copy of it. The
-- store creates a new database from this text, in one transaction, and refuses
-- an existing one whose tables differ from it.
--
-- Conventions. Tables are STRICT. Times are integer milliseconds since 1970 in
-- UTC; NULL means "not yet" or "never". JSON is text. Blueprints, triggers,
-- connections, users, organizations and categories have UUIDs, keys, firings
-- and log records ULIDs, executions their own form; all are text. Where a table
-- also has "seq", that is the order in which rows were written, and what tables
-- with many rows refer to, in columns named *_seq: eight bytes at most, where an
-- id takes 36, in every row and every index entry. Rows of users, organizations,
-- blueprints and triggers are never deleted, so their seq stays valid.
--
-- Columns named sealed_* hold text encrypted with the master key and bound to
-- their row: moved to another row, or opened with another key, it is refused. A
-- connection's is bound to its type and owner too.

-- One row: the state of the database as a whole.
CREATE TABLE meta (
  id         INTEGER PRIMARY KEY CHECK (id = 1),
  -- How many times a server took this database. Each write of a server checks
  -- that the number is still its own.
  epoch      INTEGER NOT NULL CHECK (epoch >= 0),
  -- Goes up, in the same transaction, with every change that a server may have
  -- remembered the opposite of: keys, members, blueprints, triggers.
  generation INTEGER NOT NULL CHECK (generation >= 0),
  -- Tells the master key that sealed what is sealed here from other keys.
  key_check  BLOB,
  created_at INTEGER NOT NULL,
  -- Whether fakes answer what its runs send, and whether its time is moved by
  -- hand. The first server that takes the database decides permanently.
  sandbox       INTEGER NOT NULL DEFAULT 0 CHECK (sandbox IN (0, 1)),
  virtual_clock INTEGER NOT NULL DEFAULT 0 CHECK (virtual_clock IN (0, 1))
) STRICT;

-- Accounts ------------------------------------------------------------------

CREATE TABLE users (
  seq        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE CHECK (length(id) = 36),
  email      TEXT NOT NULL CHECK (email <> ''),
  email_fold TEXT NOT NULL UNIQUE, -- email without regard to letter case
  name       TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  -- Of the password for the dashboard: argon2id in PHC form; NULL = none was set.
  password   TEXT CHECK (password LIKE '$argon2id$%')
) STRICT;

-- Sessions of the dashboard. The token in the browser is not stored.
CREATE TABLE sessions (
  id           TEXT NOT NULL PRIMARY KEY CHECK (length(id) = 26),
  hash         BLOB NOT NULL UNIQUE CHECK (length(hash) = 32), -- SHA-256
  user_id      TEXT NOT NULL REFERENCES users (id),
  agent        TEXT NOT NULL, -- the User-Agent header
  created_at   INTEGER NOT NULL,
  last_used_at INTEGER NOT NULL,
  expires_at   INTEGER NOT NULL
) STRICT;

CREATE INDEX sessions_user ON sessions (user_id);
CREATE INDEX sessions_expiry ON sessions (expires_at);

-- Links with which a user sets a password once. A new one for the same user replaces
-- the old.
CREATE TABLE setup_links (
  user_id    TEXT NOT NULL PRIMARY KEY REFERENCES users (id),
  hash       BLOB NOT NULL UNIQUE CHECK (length(hash) = 32), -- SHA-256
  expires_at INTEGER NOT NULL
) STRICT;

-- Who did what. Rows are written in the transaction of the change itself, those
-- about runs right behind it; they are never changed, and pruned by age.
CREATE TABLE audit_log (
  seq             INTEGER PRIMARY KEY,
  id              TEXT NOT NULL CHECK (length(id) = 26), -- ULID
  at              INTEGER NOT NULL,
  actor_id        TEXT NOT NULL, -- '' = on the command line, or with a link
  organization_id TEXT NOT NULL, -- whose admins may read it; '' = only the actor
  action          TEXT NOT NULL CHECK (action <> ''),
  target_type     TEXT NOT NULL,
  target_id       TEXT NOT NULL,
  via             TEXT NOT NULL CHECK (via IN ('api', 'dashboard', 'cli', 'link')),
  detail          TEXT NOT NULL CHECK (json_valid(detail))
) STRICT;

CREATE INDEX audit_log_actor ON audit_log (actor_id) WHERE actor_id <> '';
CREATE INDEX audit_log_organization ON audit_log (organization_id) WHERE organization_id <> '';

CREATE TABLE organizations (
  seq        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE CHECK (length(id) = 36),
  name       TEXT NOT NULL CHECK (name <> ''),
  slug       TEXT NOT NULL UNIQUE CHECK (slug <> ''),
  personal   INTEGER NOT NULL CHECK (personal IN (0, 1)),
  created_by TEXT NOT NULL REFERENCES users (id),
  created_at INTEGER NOT NULL
) STRICT;

-- Each user has one personal workspace.
CREATE UNIQUE INDEX organizations_personal ON organizations (created_by) WHERE personal = 1;

CREATE TABLE memberships (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  user_id         TEXT NOT NULL REFERENCES users (id),
  role            TEXT NOT NULL CHECK (role IN ('member', 'admin', 'owner')),
  created_at      INTEGER NOT NULL,
  PRIMARY KEY (organization_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX memberships_user ON memberships (user_id);

-- The keys themselves are not stored.
CREATE TABLE api_keys (
  id           TEXT NOT NULL PRIMARY KEY CHECK (length(id) = 26),
  user_id      TEXT NOT NULL REFERENCES users (id),
  name         TEXT NOT NULL,
  hash         BLOB NOT NULL UNIQUE CHECK (length(hash) = 32), -- SHA-256
  last4        TEXT NOT NULL,
  scopes       TEXT NOT NULL CHECK (scopes <> ''), -- sorted, separated by commas
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER, -- NULL = never
  last_used_at INTEGER,
  revoked_at   INTEGER
) STRICT;

CREATE INDEX api_keys_user ON api_keys (user_id);

-- Blueprints ----------------------------------------------------------------

-- A deleted blueprint keeps its row: runs refer to it and may have to finish.
CREATE TABLE blueprints (
  seq              INTEGER PRIMARY KEY,
  id               TEXT NOT NULL UNIQUE CHECK (length(id) = 36),
  title            TEXT NOT NULL CHECK (title <> ''),
  title_fold       TEXT NOT NULL, -- for searching without regard to letter case
  description      TEXT NOT NULL,
  description_fold TEXT NOT NULL,
  status           TEXT NOT NULL CHECK (status IN ('draft', 'published')),
  visibility       TEXT NOT NULL CHECK (visibility IN ('private', 'public')),
  version          TEXT NOT NULL, -- the newest
  tags             TEXT NOT NULL CHECK (json_valid(tags)),
  created_by       TEXT NOT NULL REFERENCES users (id),
  organization_id  TEXT NOT NULL REFERENCES organizations (id),
  created_at       INTEGER NOT NULL,
  updated_at       INTEGER NOT NULL CHECK (updated_at >= created_at),
  deleted_at       INTEGER,
  -- Sums over ratings, stored so that a list need not compute them.
  rating_sum       REAL NOT NULL DEFAULT 0 CHECK (rating_sum >= 0),
  rating_count     INTEGER NOT NULL DEFAULT 0 CHECK (rating_count >= 0),
  -- Its external source, as "sync:NAME:PATH" of a file in a folder, and the version
  -- that was last set from there. NULL = none.
  source           TEXT CHECK (source <> ''),
  synced_version   TEXT,
  CHECK ((source IS NULL) = (synced_version IS NULL))
) STRICT;

CREATE INDEX blueprints_creator ON blueprints (created_by, created_at) WHERE deleted_at IS NULL;
CREATE INDEX blueprints_home ON blueprints (created_by, organization_id) WHERE deleted_at IS NULL;
CREATE INDEX blueprints_organization ON blueprints (organization_id, created_at) WHERE deleted_at IS NULL;
CREATE INDEX blueprints_public ON blueprints (created_at) WHERE deleted_at IS NULL AND visibility = 'public';
-- No two blueprints of an organization have the same source.
CREATE UNIQUE INDEX blueprints_source ON blueprints (organization_id, source) WHERE deleted_at IS NULL AND source IS NOT NULL;

-- Maps and variables, stored once for all versions that share them. Variables
-- are sealed as soon as one of them is a secret with a value.
CREATE TABLE blueprint_contents (
  blueprint_id     TEXT NOT NULL REFERENCES blueprints (id),
  version          TEXT NOT NULL,
  map              TEXT CHECK (json_valid(map)),
  variables        TEXT CHECK (json_valid(variables)),
  sealed_variables BLOB,
  PRIMARY KEY (blueprint_id, version),
  CHECK ((variables IS NULL) <> (sealed_variables IS NULL))
) STRICT;

-- Every version that a blueprint ever had. Runs are pinned to one.
CREATE TABLE blueprint_versions (
  blueprint_id    TEXT NOT NULL REFERENCES blueprints (id),
  version         TEXT NOT NULL,
  title           TEXT NOT NULL,
  -- The version that last changed the map or the variables: where they are.
  content_version TEXT NOT NULL,
  created_by      TEXT NOT NULL REFERENCES users (id),
  -- The version that last changed the map or the variables in meaning, and who
  -- wrote it: what a run may use depends on them. Titles, positions and identical
  -- saves change neither.
  meaning_version TEXT NOT NULL,
  author          TEXT NOT NULL REFERENCES users (id),
  created_at      INTEGER NOT NULL,
  seq             INTEGER NOT NULL CHECK (seq > 0), -- 1, 2, 3 ... for each blueprint
  budget          TEXT CHECK (json_valid(budget)), -- of each run; NULL = none
  PRIMARY KEY (blueprint_id, version),
  FOREIGN KEY (blueprint_id, content_version) REFERENCES blueprint_contents (blueprint_id, version)
) STRICT, WITHOUT ROWID;

-- Versions by other authors that a user lets use the user's own resources. The
-- version is a meaning_version.
CREATE TABLE grants (
  user_id      TEXT NOT NULL REFERENCES users (id),
  blueprint_id TEXT NOT NULL REFERENCES blueprints (id),
  version      TEXT NOT NULL,
  granted_at   INTEGER NOT NULL,
  PRIMARY KEY (user_id, blueprint_id, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE collaborators (
  blueprint_id TEXT NOT NULL REFERENCES blueprints (id),
  user_id      TEXT NOT NULL REFERENCES users (id),
  role         TEXT NOT NULL CHECK (role IN ('editor', 'admin')),
  created_at   INTEGER NOT NULL,
  PRIMARY KEY (blueprint_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX collaborators_user ON collaborators (user_id);

CREATE TABLE ratings (
  blueprint_id TEXT NOT NULL REFERENCES blueprints (id),
  user_id      TEXT NOT NULL REFERENCES users (id),
  rating       REAL NOT NULL CHECK (rating > 0 AND rating <= 5),
  PRIMARY KEY (blueprint_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE favorites (
  blueprint_id TEXT NOT NULL REFERENCES blueprints (id),
  user_id      TEXT NOT NULL REFERENCES users (id),
  PRIMARY KEY (blueprint_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE categories (
  id              TEXT NOT NULL PRIMARY KEY CHECK (length(id) = 36),
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  name            TEXT NOT NULL CHECK (name <> ''),
  slug            TEXT NOT NULL CHECK (slug <> ''),
  UNIQUE (organization_id, slug)
) STRICT;

CREATE TABLE blueprint_categories (
  blueprint_id TEXT NOT NULL REFERENCES blueprints (id),
  category_id  TEXT NOT NULL REFERENCES categories (id),
  PRIMARY KEY (blueprint_id, category_id)
) STRICT, WITHOUT ROWID;

-- Triggers ------------------------------------------------------------------

-- A config is sealed as soon as it holds a secret.
CREATE TABLE triggers (
  seq           INTEGER PRIMARY KEY,
  id            TEXT NOT NULL UNIQUE CHECK (length(id) = 36),
  blueprint_id  TEXT NOT NULL REFERENCES blueprints (id),
  type          TEXT NOT NULL CHECK (type IN ('manual', 'scheduled', 'webhook', 'email', 'slack', 'event', 'api')),
  config        TEXT CHECK (json_valid(config)),
  sealed_config BLOB,
  is_active     INTEGER NOT NULL CHECK (is_active IN (0, 1)),
  created_by    TEXT NOT NULL REFERENCES users (id),
  created_at    INTEGER NOT NULL,
  -- Of a scheduled trigger: every tick up to here has been decided.
  cursor_at     INTEGER NOT NULL,
  -- The generation that the last change brought; a moved cursor is none.
  changed       INTEGER NOT NULL,
  deleted_at    INTEGER,
  event         TEXT, -- of an event trigger: the one it listens to; * = all but custom ones
  address       TEXT UNIQUE CHECK (address <> ''), -- of an email trigger: its mailbox, before the @
  -- How many of its runs in a row have failed; and, if the breaker paused it, their
  -- number then and the last of them, else NULL.
  failures      INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
  paused_failures INTEGER CHECK (paused_failures IS NULL OR paused_failures > 0 AND is_active = 0),
  paused_run    TEXT CHECK ((paused_run IS NULL) = (paused_failures IS NULL)),
  -- When it was paused; NULL if only a user can turn it on again.
  paused_at     INTEGER CHECK (paused_at IS NULL OR paused_failures IS NOT NULL),
  -- When it was last turned on; 0 = never since its creation. Failures of runs that
  -- were created before do not count.
  on_since      INTEGER NOT NULL DEFAULT 0,
  -- The keys of its config that were changed since its blueprint was last set from
  -- its source; NULL = none.
  edited        TEXT CHECK (json_valid(edited)),
  CHECK ((config IS NULL) <> (sealed_config IS NULL))
) STRICT;

CREATE INDEX triggers_blueprint ON triggers (blueprint_id) WHERE deleted_at IS NULL;
CREATE INDEX triggers_active ON triggers (type) WHERE deleted_at IS NULL AND is_active = 1;
CREATE INDEX triggers_event ON triggers (event) WHERE event IS NOT NULL AND deleted_at IS NULL AND is_active = 1;
CREATE INDEX triggers_failing ON triggers (failures) WHERE failures > 0;
CREATE INDEX triggers_paused ON triggers (id) WHERE paused_failures IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX triggers_changed ON triggers (changed) WHERE type = 'scheduled';

-- The api triggers that a user is offered on /mcp, under names that only that user
-- changes: their own, from creation on, and those of others that they enabled.
CREATE TABLE mcp_tools (
  user_id    TEXT NOT NULL REFERENCES users (id),
  trigger_id TEXT NOT NULL REFERENCES triggers (id),
  name       TEXT NOT NULL CHECK (name <> ''),
  enabled    INTEGER NOT NULL CHECK (enabled IN (0, 1)), -- 0 only for one's own
  PRIMARY KEY (user_id, trigger_id),
  UNIQUE (user_id, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX mcp_tools_trigger ON mcp_tools (trigger_id);

-- The ledger: one row for every activation of a trigger, whatever its outcome. (Checks
-- of tables that are written often compare with = and OR: for IN with more than two
-- values, SQLite would make a temporary table in each statement.)
CREATE TABLE firings (
  seq          INTEGER PRIMARY KEY,
  id           TEXT NOT NULL UNIQUE CHECK (length(id) = 26),
  trigger_seq  INTEGER NOT NULL REFERENCES triggers (seq),
  source       TEXT NOT NULL CHECK (source = 'webhook' OR source = 'schedule' OR source = 'event' OR source = 'api' OR source = 'manual' OR source = 'email' OR source = 'slack' OR source = 'redelivery'),
  -- What identifies the tick, delivery, mail or event. NULL = the firing's own id,
  -- because the sender gave no key.
  key          TEXT CHECK (key <> '' AND key <> id),
  due_at       INTEGER,
  received_at  INTEGER NOT NULL,
  decision     TEXT NOT NULL CHECK (decision = 'started' OR decision = 'duplicate' OR decision = 'skipped' OR decision = 'refused' OR decision = 'coalesced'),
  -- Why, as a blueprint.ReasonCode, and its parameters, a JSON object; the sentence
  -- is generated when it is shown.
  reason_code  TEXT NOT NULL,
  sealed_reason BLOB,
  execution_id TEXT,
  -- The hash of the body, if a repeated key must have the same body. It is sealed,
  -- because bodies can be guessed.
  sealed_body_hash BLOB,
  -- Of a redelivery: the original firing.
  redelivery_of TEXT CHECK (redelivery_of IS NULL OR source = 'redelivery'),
  -- The delivery: JSON of all but the body and, after a line break, the unchanged
  -- body if it is stored. It may contain secrets.
  sealed_delivery BLOB,
  CHECK (decision <> 'started' OR execution_id IS NOT NULL)
) STRICT;

-- One tick, delivery, mail or event starts at most one run.
CREATE UNIQUE INDEX firings_started ON firings (trigger_seq, key) WHERE decision = 'started' AND key IS NOT NULL;
CREATE INDEX firings_trigger ON firings (trigger_seq);
-- For users who look for why something did not run.
CREATE INDEX firings_unstarted ON firings (trigger_seq, decision) WHERE decision <> 'started';
CREATE INDEX firings_redelivered ON firings (redelivery_of) WHERE redelivery_of IS NOT NULL;

-- The files of a delivery, which a run can name; their bytes are in the delivery.
CREATE TABLE files (
  id           TEXT NOT NULL PRIMARY KEY CHECK (length(id) >= 26),
  firing       INTEGER NOT NULL REFERENCES firings (seq) ON DELETE CASCADE,
  part         INTEGER NOT NULL CHECK (part >= 0),
  sealed_head  BLOB NOT NULL, -- name and content type, as the sender wrote them
  size         INTEGER NOT NULL CHECK (size >= 0)
) STRICT;

CREATE INDEX files_firing ON files (firing);

-- The outbox: events that still have to be delivered to the triggers that listen. A
-- row is written in the transaction of the event, if a trigger listens, and deleted
-- once each of these triggers has its row in the ledger.
CREATE TABLE events (
  seq             INTEGER PRIMARY KEY,
  key             TEXT NOT NULL UNIQUE CHECK (length(key) = 26), -- ULID: the key of the firings
  name            TEXT NOT NULL CHECK (name <> ''),
  organization_id TEXT NOT NULL,
  blueprint_id    TEXT NOT NULL,
  execution_id    TEXT NOT NULL, -- '' = none
  depth           INTEGER NOT NULL CHECK (depth >= 0),
  root            TEXT NOT NULL, -- key of the first event of the chain; '' = this is the first
  at              INTEGER NOT NULL,
  sealed_data     BLOB NOT NULL
) STRICT;

-- Organizations take turns.
CREATE INDEX events_organization ON events (organization_id);

-- How many rows each trigger has, so that a page of them need not count them. The
-- store adds up what a transaction inserts and deletes.
CREATE TABLE firing_counts (
  trigger_seq INTEGER PRIMARY KEY REFERENCES triggers (seq),
  firings     INTEGER NOT NULL CHECK (firings >= 0)
) STRICT;

-- Connections ---------------------------------------------------------------

-- How to reach another service. Deleting one deletes its tokens and sign-ins.
CREATE TABLE connections (
  seq             INTEGER PRIMARY KEY,
  id              TEXT NOT NULL UNIQUE CHECK (length(id) = 36),
  name            TEXT NOT NULL CHECK (name <> ''),
  type            TEXT NOT NULL CHECK (type IN ('ai-provider', 'mcp-server', 'oauth2', 'http', 'smtp', 'slack')),
  sealed_config   BLOB NOT NULL,
  organization_id TEXT REFERENCES organizations (id), -- NULL = of its creator
  created_by      TEXT NOT NULL REFERENCES users (id),
  configured_by   TEXT REFERENCES users (id), -- who set the whole config; NULL = several users
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL CHECK (updated_at >= created_at)
) STRICT;

CREATE INDEX connections_creator ON connections (created_by) WHERE organization_id IS NULL;
CREATE INDEX connections_organization ON connections (organization_id) WHERE organization_id IS NOT NULL;

-- The tokens that a service issued for a user.
CREATE TABLE connection_tokens (
  connection_id TEXT NOT NULL REFERENCES connections (id) ON DELETE CASCADE,
  user_id       TEXT NOT NULL REFERENCES users (id),
  sealed_token  BLOB NOT NULL,
  updated_at    INTEGER NOT NULL,
  PRIMARY KEY (connection_id, user_id)
) STRICT;

-- Tickets are addresses that a run asked a user to visit; the other rows are sign-ins
-- that were begun at a service and are not finished. Such a row is deleted when the
-- user returns with its state.
CREATE TABLE sign_ins (
  state_hash    BLOB NOT NULL PRIMARY KEY CHECK (length(state_hash) = 32), -- SHA-256
  ticket        INTEGER NOT NULL CHECK (ticket IN (0, 1)),
  connection_id TEXT NOT NULL REFERENCES connections (id) ON DELETE CASCADE,
  user_id       TEXT NOT NULL REFERENCES users (id),
  sealed_secret BLOB NOT NULL,
  execution_id  TEXT NOT NULL, -- the run that waits, which may be pruned; '' = none
  address       TEXT NOT NULL, -- of the node in it
  versions      TEXT NOT NULL CHECK (json_valid(versions)), -- that are granted by signing in
  created_at    INTEGER NOT NULL, -- of a ticket: when it was last asked for
  expires_at    INTEGER NOT NULL
) STRICT;

CREATE INDEX sign_ins_person ON sign_ins (connection_id, user_id, ticket, expires_at);
CREATE UNIQUE INDEX sign_ins_place ON sign_ins (connection_id, user_id, execution_id, address) WHERE ticket = 1;
CREATE INDEX sign_ins_expiry ON sign_ins (expires_at);

-- Executions ----------------------------------------------------------------

-- A short run is this one row, written once. Until a longer one ends, what
-- happened to it is in its journal.
CREATE TABLE executions (
  seq                 INTEGER PRIMARY KEY,
  id                  TEXT NOT NULL UNIQUE CHECK (id <> ''),
  log_id              TEXT CHECK (log_id <> ''), -- NULL = the ULID at the end of the id, in upper case
  blueprint_seq       INTEGER NOT NULL, -- the insert finds these four; see the store
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
  record              BLOB, -- what readers see of a finished run, sealed; ends with a checksum of four bytes
  state               BLOB, -- what a retry of a finished run needs where that differs, and what a recorded one exchanged, masked, which alone is shown; sealed, ends with a checksum
  CHECK ((status = 'completed' OR status = 'failed') = (end_time IS NOT NULL)),
  CHECK ((end_time IS NULL) = (record IS NULL)),
  CHECK (state IS NULL OR record IS NOT NULL)
) STRICT;

CREATE INDEX executions_blueprint ON executions (blueprint_seq, created_at);
CREATE INDEX executions_organization ON executions (organization_seq, created_at);
CREATE INDEX executions_user ON executions (user_seq, created_at);
CREATE INDEX executions_unfinished ON executions (created_at) WHERE end_time IS NULL;
-- What is pruned first: of completed and of failed runs those that ended first.
CREATE INDEX executions_completed ON executions (end_time) WHERE status = 'completed';
CREATE INDEX executions_failed ON executions (end_time) WHERE status = 'failed';
-- For users who look for failed runs of a trigger to run them again.
CREATE INDEX executions_trigger ON executions (trigger_seq, end_time) WHERE status = 'failed' AND trigger_seq IS NOT NULL;

-- An ended execution does not change. Its record is encrypted again when the master key
-- changes.
CREATE TRIGGER executions_terminal BEFORE UPDATE OF status, end_time ON executions
WHEN OLD.end_time IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'the execution has ended');
END;

-- The journal of a run that has not ended: entries in the order in which they
-- were committed, each sealed by the engine, with a checksum of four bytes at
-- its end.
CREATE TABLE journal (
  execution INTEGER NOT NULL REFERENCES executions (seq),
  position  INTEGER NOT NULL CHECK (position > 0), -- 1, 2, 3 ...
  entry     BLOB NOT NULL,
  PRIMARY KEY (execution, position)
) STRICT, WITHOUT ROWID;

-- Which runs retry or fork another one, which may have been removed since.
CREATE TABLE retries (
  execution INTEGER PRIMARY KEY REFERENCES executions (seq) ON DELETE CASCADE,
  retry_of  TEXT NOT NULL CHECK (retry_of <> '')
) STRICT;

CREATE INDEX retries_of ON retries (retry_of);

-- How many runs ended in each hour and how long they took, of each blueprint and
-- of each organization, counted in the transaction of their end: a picture of a
-- month need not read a million runs.
CREATE TABLE run_hours (
  scope       TEXT NOT NULL,    -- a blueprint's or an organization's id
  hour        INTEGER NOT NULL, -- hours since 1970
  completed   INTEGER NOT NULL CHECK (completed >= 0),
  failed      INTEGER NOT NULL CHECK (failed >= 0),
  duration_ms INTEGER NOT NULL CHECK (duration_ms >= 0), -- of all together
  slowest_ms  INTEGER NOT NULL CHECK (slowest_ms >= 0),
  PRIMARY KEY (scope, hour)
) STRICT, WITHOUT ROWID;

CREATE INDEX run_hours_hour ON run_hours (hour);
