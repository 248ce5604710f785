import { spawn, type ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import { findBinary } from './binary.js'

/** Time limit of a server to become ready, and to stop, in milliseconds. */
const startPatience = 60_000
const stopPatience = 20_000
/** The maximum length of a stored log, in characters. */
const mostLog = 1 << 18

/** The objects of a seed file, by their names in it. */
export interface Seed {
  users?: { email: string; id: string }[]
  organizations?: { name: string; id: string }[]
  connections?: { name: string; id: string }[]
  blueprints?: { title: string; id: string; triggers?: { id: string; triggerType: string; url?: string }[] }[]
}

/** The output of a server that is ready. */
export interface Ready {
  baseUrl: string
  apiHost: string
  dashboardUrl: string
  smtpAddr?: string
  apiKey: string
  pid: number
  seed?: Seed
}

/** A running server. */
export interface Running {
  ready: Ready
  binary: string
  logs(): string
  stop(): Promise<void>
}

/** Starts `blueprintd serve`, which lives as long as a pipe that this process holds. */
export async function launch(option: string | undefined, flags: string[]): Promise<Running> {
  const binary = findBinary(option)
  const child = spawn(binary, ['serve', '--until-eof', '--ready-file', '-', ...flags], { stdio: ['pipe', 'pipe', 'pipe'], windowsHide: true, env: ownEnvironment() })
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log = (log + text).slice(-mostLog)))
  child.stdin.on('error', () => {}) // the process has ended
  const logs = () => log
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(String(error)))
    child.once('close', (code, signal) => resolve(signal ?? (code === 0 ? '' : `exit code ${code}`)))
  })
  const ready = await firstLine(child, ended).catch((error: Error) => {
    child.kill('SIGKILL')
    throw new Error(`${binary} ${error.message}\n${log}`)
  })
  hold(child, false)
  let stopping: Promise<void> | undefined
  return { ready, binary, logs, stop: () => (stopping ??= stop(child, ended, logs)) }
}

/** The environment without settings of other servers: a service container beside the tests is configured by the same names. */
function ownEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('BLUEPRINTD_')))
}

/** Sets whether the server keeps this process alive. By default it does so only while its start or end is awaited. */
function hold(child: ChildProcess, held: boolean): void {
  for (const each of [child, child.stdin, child.stdout, child.stderr] as (ChildProcess | Socket)[]) held ? each.ref() : each.unref()
}

function firstLine(child: ChildProcess, ended: Promise<string>): Promise<Ready> {
  return new Promise((resolve, reject) => {
    let said = ''
    const late = setTimeout(() => reject(new Error(`was not ready within ${startPatience / 1000} s`)), startPatience)
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      if (said.includes('\n')) return
      said += text
      if (!said.includes('\n')) return
      clearTimeout(late)
      try {
        resolve(JSON.parse(said) as Ready)
      } catch {
        reject(new Error(`said no JSON; is it as new as this package?\n${said}`))
      }
    })
    void ended.then((why) => {
      clearTimeout(late)
      reject(new Error(`did not become ready (${why || 'it stopped'}); is it as new as this package?`))
    })
  })
}

async function stop(child: ChildProcess, ended: Promise<string>, logs: () => string): Promise<void> {
  hold(child, true)
  child.stdin!.end()
  const late = setTimeout(() => child.kill('SIGKILL'), stopPatience)
  const why = await ended
  clearTimeout(late)
  if (why) throw new Error(`blueprintd ended badly: ${why}\n${logs()}`)
}
