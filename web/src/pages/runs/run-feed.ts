/**
 * One run as it changes: by a subscription if that works, else by polling, until the run has ended. Independent of
 * React and of the network, so that tests can replace both.
 */
import { share } from '../../api/json'
import { isOver, type Run } from './types'

/** The source of runs. */
export type RunSource = {
  /** Calls onData with each new record; returns a function that stops it. */
  subscribe(id: string, to: { onData(run: Run): void; onError(error: unknown): void; onComplete(): void }): () => void
  /** Fetches once. */
  fetch(id: string): Promise<Run>
  /** Calls back later; returns a function that cancels it. */
  after(milliseconds: number, call: () => void): () => void
  /** Reports whether an error is permanent: not found, not allowed, not signed in. */
  isFinal(error: unknown): boolean
}

/** The known state of a run. */
export type RunState = {
  run: Run | null
  /** The last error, until the next record. */
  error: unknown
  /** `live`: subscribed. `polling`: fetched regularly. `over`: it ended. `missing`: not visible. */
  phase: 'connecting' | 'live' | 'polling' | 'over' | 'missing'
}

/** How long the first record of a subscription may take before polling starts too. */
export const patience = 5000
/** The polling interval without a subscription. */
export const pollEvery = 3000
/** When a subscription is retried. */
export const tryAgain = 20_000

/** Follows one run. start and stop may be called any number of times. */
export class RunFeed {
  state: RunState = { run: null, error: null, phase: 'connecting' }
  private listeners = new Set<() => void>()
  private ends: (() => void) | null = null
  private timers = new Map<'patience' | 'poll' | 'again', () => void>()
  private turn = 0
  private readonly id: string
  private readonly source: RunSource

  constructor(id: string, source: RunSource) {
    this.id = id
    this.source = source
  }

  /** Calls the listener after each change of the state; returns a function that stops it. */
  listen(listener: () => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  /** Starts or continues to follow. */
  start(): void {
    if (this.ends || this.isDone()) return
    this.connect()
  }

  /** Stops following; the state is kept. */
  stop(): void {
    this.turn++
    for (const cancel of this.timers.values()) cancel()
    this.timers.clear()
    this.ends?.()
    this.ends = null
  }

  /** Adds a record from elsewhere, such as the result of a resume or a cancel. A newer known record is kept. */
  put(run: Run): void {
    const known = this.state.run
    if (known && ((isOver(known.status) && !isOver(run.status)) || known.logs.length > run.logs.length)) return
    this.take(run, this.state.phase === 'polling' ? 'polling' : this.state.phase === 'live' ? 'live' : 'connecting')
  }

  /** Fetches again after an error. */
  again(): void {
    this.stop()
    this.set({ ...this.state, error: null, phase: 'connecting' })
    this.start()
  }

  private connect(): void {
    const turn = ++this.turn
    const mine = (call: () => void) => {
      if (turn === this.turn) call()
    }
    let ended = false
    this.ends = () => undefined
    const end = this.source.subscribe(this.id, {
      onData: (run) =>
        mine(() => {
          this.drop('patience')
          this.drop('poll')
          this.take(run, 'live')
        }),
      onError: (error) => {
        ended = true
        mine(() => this.broke(error))
      },
      onComplete: () => {
        ended = true
        mine(() => {
          if (!this.isDone()) this.broke(null)
        })
      },
    })
    if (ended || turn !== this.turn) return
    this.ends = end
    this.plan('patience', patience, () => void this.poll())
  }

  // The subscription ended, but the run did not.
  private broke(error: unknown): void {
    this.drop('patience')
    if (error && this.source.isFinal(error)) {
      this.stop()
      this.set({ ...this.state, error, phase: 'missing' })
      return
    }
    void this.poll()
    this.plan('again', tryAgain, () => {
      this.drop('poll')
      this.ends?.()
      this.connect()
    })
  }

  private async poll(): Promise<void> {
    const turn = this.turn
    this.drop('poll')
    try {
      const run = await this.source.fetch(this.id)
      if (turn !== this.turn || (this.state.phase === 'live' && !this.timers.has('again'))) return
      this.take(run, 'polling')
    } catch (error) {
      if (turn !== this.turn) return
      this.set({ ...this.state, error, phase: this.source.isFinal(error) ? 'missing' : 'polling' })
    }
    if (this.isDone()) this.stop()
    else this.plan('poll', pollEvery, () => void this.poll())
  }

  private take(run: Run, phase: RunState['phase']): void {
    const merged = share(this.state.run, run) as Run
    if (run.status === 'not_found') this.set({ run: null, error: null, phase: 'missing' })
    else this.set({ run: merged, error: null, phase: isOver(run.status) ? 'over' : phase })
    if (this.isDone()) this.stop()
  }

  private isDone(): boolean {
    return this.state.phase === 'over' || this.state.phase === 'missing'
  }

  private plan(name: 'patience' | 'poll' | 'again', milliseconds: number, call: () => void): void {
    this.drop(name)
    this.timers.set(
      name,
      this.source.after(milliseconds, () => {
        this.timers.delete(name)
        call()
      }),
    )
  }

  private drop(name: 'patience' | 'poll' | 'again'): void {
    this.timers.get(name)?.()
    this.timers.delete(name)
  }

  private set(state: RunState): void {
    const { run, error, phase } = this.state
    if (run === state.run && error === state.error && phase === state.phase) return
    this.state = state
    for (const listener of this.listeners) listener()
  }
}
