-- Runs that retry another one are found by it. Those from before this version name it in
-- their record only.

CREATE TABLE retries (
  execution INTEGER PRIMARY KEY REFERENCES executions (seq) ON DELETE CASCADE,
  retry_of  TEXT NOT NULL CHECK (retry_of <> '')
) STRICT;
CREATE INDEX retries_of ON retries (retry_of);
