-- Tables that only PostgreSQL has: what the processes of one server share about themselves.
-- Nothing in them is history; move and backup leave them out.

-- A claim is held by one process at a time, which renews it; see Store.Claim.
CREATE TABLE claims (
  name    text COLLATE "C" PRIMARY KEY,
  holder  bigint NOT NULL,      -- a random number for each claim
  node    bigint NOT NULL,      -- the process that holds it
  until   timestamptz NOT NULL  -- by the clock of the database
);

-- Failed password attempts of the last minutes; see Store.CountAttempt.
CREATE TABLE failed_attempts (
  attempt bigint NOT NULL,      -- a random number
  key     bytea NOT NULL,       -- hash of an account, a device or an address
  at      bigint NOT NULL,
  PRIMARY KEY (attempt, key)
);
CREATE INDEX failed_attempts_key ON failed_attempts (key, at);
CREATE INDEX failed_attempts_at ON failed_attempts (at);

-- The levels of the rate limits that are in use; see Store.ShareRate.
CREATE UNLOGGED TABLE rate_use (
  key     text COLLATE "C" PRIMARY KEY,
  level   double precision NOT NULL, -- calls of the burst that were used up at the time
  at      timestamptz NOT NULL       -- by the clock of the database
);
