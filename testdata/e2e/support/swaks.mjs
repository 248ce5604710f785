// swaks, the Swiss army knife for SMTP: sends one message and returns the dialogue.
import { spawn } from 'node:child_process';

/** Sends a message with swaks. Returns its exit status, 0 if the message was accepted, and the dialogue. */
export function swaks(server, to, { message, flags = [] } = {}) {
  const [host, port] = server.split(':');
  return new Promise((resolve, reject) => {
    const given = ['--server', host, '--port', port, '--from', 'ada@sender.example', '--to', to, '--helo', 'client.sender.example', ...flags];
    if (message !== undefined) given.push('--data', '-');
    const child = spawn('swaks', given);
    let dialogue = '';
    child.stdout.on('data', (text) => (dialogue += text));
    child.stderr.on('data', (text) => (dialogue += text));
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, dialogue }));
    child.stdin.on('error', () => {}); // it may end before it has read everything
    child.stdin.end(message);
  });
}
