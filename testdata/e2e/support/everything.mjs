// The reference server of the Model Context Protocol, over streamable HTTP.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { until } from './poll.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** Starts it on loopback; returns the URL of its endpoint and stop(). */
export async function startEverything() {
  const child = spawn(process.execPath, [
    '--import', new URL('./loopback.mjs', import.meta.url).href,
    here('../node_modules/@modelcontextprotocol/server-everything/dist/index.js'), 'streamableHttp',
  ], { env: {}, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  child.stdout.on('data', (text) => (said += text));
  child.stderr.on('data', (text) => (said += text));
  process.once('exit', () => child.kill('SIGKILL'));
  const ended = once(child, 'exit');
  const port = await until('the port of server-everything', async () => {
    if (child.exitCode !== null) throw new Error(`it ended early:\n${said}`);
    return /^port (\d+)$/m.exec(said)?.[1];
  });
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    stop: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
