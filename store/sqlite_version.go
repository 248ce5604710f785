package store

import sqlite3 "modernc.org/sqlite/lib"

// SQLiteVersion is the version of the SQLite inside, such as "3.50.4".
const SQLiteVersion = sqlite3.SQLITE_VERSION
