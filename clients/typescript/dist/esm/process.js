import { spawn } from 'node:child_process';
import { findBinary } from './binary.js';
/** Time limit of a server to become ready, and to stop, in milliseconds. */
const startPatience = 60_000;
const stopPatience = 20_000;
/** The maximum length of a stored log, in characters. */
const mostLog = 1 << 18;
/** Starts `blueprintd serve`, which lives as long as a pipe that this process holds. */
export async function launch(option, flags) {
    const binary = findBinary(option);
    const child = spawn(binary, ['serve', '--until-eof', '--ready-file', '-', ...flags], { stdio: ['pipe', 'pipe', 'pipe'], windowsHide: true, env: ownEnvironment() });
    let log = '';
    child.stderr.setEncoding('utf8').on('data', (text) => (log = (log + text).slice(-mostLog)));
    child.stdin.on('error', () => { }); // the process has ended
    const logs = () => log;
    const ended = new Promise((resolve) => {
        child.once('error', (error) => resolve(String(error)));
        child.once('close', (code, signal) => resolve(signal ?? (code === 0 ? '' : `exit code ${code}`)));
    });
    const ready = await firstLine(child, ended).catch((error) => {
        child.kill('SIGKILL');
        throw new Error(`${binary} ${error.message}\n${log}`);
    });
    hold(child, false);
    let stopping;
    return { ready, binary, logs, stop: () => (stopping ??= stop(child, ended, logs)) };
}
/** The environment without settings of other servers: a service container beside the tests is configured by the same names. */
function ownEnvironment() {
    return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('BLUEPRINTD_')));
}
/** Sets whether the server keeps this process alive. By default it does so only while its start or end is awaited. */
function hold(child, held) {
    for (const each of [child, child.stdin, child.stdout, child.stderr])
        held ? each.ref() : each.unref();
}
function firstLine(child, ended) {
    return new Promise((resolve, reject) => {
        let said = '';
        const late = setTimeout(() => reject(new Error(`was not ready within ${startPatience / 1000} s`)), startPatience);
        child.stdout.setEncoding('utf8').on('data', (text) => {
            if (said.includes('\n'))
                return;
            said += text;
            if (!said.includes('\n'))
                return;
            clearTimeout(late);
            try {
                resolve(JSON.parse(said));
            }
            catch {
                reject(new Error(`said no JSON; is it as new as this package?\n${said}`));
            }
        });
        void ended.then((why) => {
            clearTimeout(late);
            reject(new Error(`did not become ready (${why || 'it stopped'}); is it as new as this package?`));
        });
    });
}
async function stop(child, ended, logs) {
    hold(child, true);
    child.stdin.end();
    const late = setTimeout(() => child.kill('SIGKILL'), stopPatience);
    const why = await ended;
    clearTimeout(late);
    if (why)
        throw new Error(`blueprintd ended badly: ${why}\n${logs()}`);
}
