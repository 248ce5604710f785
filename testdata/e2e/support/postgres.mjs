// Databases on the PostgreSQL server of BLUEPRINTD_TEST_POSTGRES, a URL without a database.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
const server = process.env.BLUEPRINTD_TEST_POSTGRES;
let count = 0;

const administer = (statement) => run('psql', ['-qX', '-v', 'ON_ERROR_STOP=1', '-c', statement, `${server}/postgres`]);

/** Whether the servers of the suites use PostgreSQL. */
export const onPostgreSQL = server !== undefined;

/** Creates an empty database. Returns its url, and drop(). */
export async function createDatabase() {
  const name = `e2e_${process.pid}_${++count}`;
  await administer(`CREATE DATABASE ${name}`);
  return { url: `${server}/${name}`, drop: () => administer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}
