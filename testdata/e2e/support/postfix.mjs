// Postfix with its own configuration, queue and log, on loopback: it accepts every mail by SMTP
// and forwards it to one server. It needs root, like Postfix.
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Returns a free port. */
export async function freePort() {
  const probe = net.createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => probe.once('listening', resolve));
  const { port } = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

const services = (port) => `
127.0.0.1:${port} inet n - n - - smtpd
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
tlsmgr unix - - n 1000? 1 tlsmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
flush unix n - n 1000? 0 flush
proxymap unix - - n - - proxymap
smtp unix - - n - - smtp
retry unix - - n - - error
error unix - - n - - error
discard unix - - n - - discard
local unix - n n - - local
scache unix - - n - 1 scache
postlog unix-dgram n - n - 1 postlogd
`;

/** Starts Postfix in front of the server at smtpAddr, "host:port". Returns port, flush(), log() and stop(). */
export async function startPostfix(smtpAddr, more = '') {
  const folder = await mkdtemp(join(tmpdir(), 'blueprintd-e2e-postfix-'));
  await chmod(folder, 0o755); // its processes do not run as root
  const [config, queue, data, log] = ['config', 'queue', 'data', 'log'].map((name) => join(folder, name));
  for (const one of [config, queue, data]) await mkdir(one, { mode: 0o755 });
  await run('chown', ['postfix', data]);
  const port = await freePort();
  await writeFile(join(config, 'main.cf'), `
compatibility_level = 3.6
queue_directory = ${queue}
data_directory = ${data}
maillog_file = ${log}
maillog_file_prefixes = ${folder}
myhostname = relay.sender.example
mydestination =
inet_interfaces = loopback-only
inet_protocols = ipv4
mynetworks = 127.0.0.0/8
relayhost = [${smtpAddr.replace(/:/, ']:')}
smtpd_recipient_restrictions = permit_mynetworks, reject
disable_dns_lookups = yes
alias_maps =
message_size_limit = 0
mailbox_size_limit = 0
minimal_backoff_time = 1s
queue_run_delay = 1s
maximal_backoff_time = 2s
notify_classes =
bounce_notice_recipient = postmaster@sender.example
${more}
`);
  await writeFile(join(config, 'master.cf'), services(port));
  await run('postfix', ['-c', config, 'start']);
  return {
    port,
    flush: () => run('postqueue', ['-c', config, '-f']),
    log: () => readFile(log, 'utf8'),
    async stop() {
      await run('postfix', ['-c', config, 'stop']).finally(() => rm(folder, { recursive: true, force: true }));
    },
  };
}
