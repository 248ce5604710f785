// An EventSource for runtimes that have none, or whose own can send no headers. It does what the client of tRPC asks of
// one: https://html.spec.whatwg.org/multipage/server-sent-events.html without what no blueprintd server sends.

interface Message {
  type: string
  data: string
  lastEventId: string
}
type Listener = (event: Message) => void

/** How long to wait before connecting again, in milliseconds. */
const reconnectAfter = 1000

/** What the client of tRPC asks of an EventSource. */
export interface EventStream {
  readonly CONNECTING: number
  readonly OPEN: number
  readonly CLOSED: number
  readyState: number
  addEventListener(type: string, listener: (event: never) => void): void
  removeEventListener(type: string, listener: (event: never) => void): void
  close(): void
}

/** Makes the class, whose instances send these headers. */
export function eventSource(fetch: typeof globalThis.fetch, headers: Record<string, string>): new (url: string, options?: object) => EventStream {
  return class implements EventStream {
    readonly CONNECTING = 0
    readonly OPEN = 1
    readonly CLOSED = 2
    readyState = 0
    private readonly listeners = new Map<string, Set<Listener>>()
    private readonly stopped = new AbortController()
    private lastEventId = ''

    constructor(private readonly url: string, _options?: object) {
      void this.run()
    }

    addEventListener(type: string, listener: (event: never) => void): void {
      const list = this.listeners.get(type) ?? new Set()
      this.listeners.set(type, list.add(listener as Listener))
    }

    removeEventListener(type: string, listener: (event: never) => void): void {
      this.listeners.get(type)?.delete(listener as Listener)
    }

    close(): void {
      this.readyState = this.CLOSED
      this.stopped.abort()
    }

    private async run(): Promise<void> {
      while (this.readyState !== this.CLOSED) {
        let problem = 'the stream ended'
        try {
          const again = this.lastEventId ? { 'last-event-id': this.lastEventId } : {}
          const answer = await fetch(this.url, { headers: { ...headers, ...again, accept: 'text/event-stream' }, signal: this.stopped.signal })
          if (answer.status !== 200 || !answer.body) {
            this.readyState = this.CLOSED // what is refused once is refused again
            problem = `Non-200 status code (${answer.status})`
          } else {
            this.readyState = this.OPEN
            await this.read(answer.body)
          }
        } catch (error) {
          problem = String(error)
        }
        if (this.stopped.signal.aborted) return
        if (this.readyState !== this.CLOSED) this.readyState = this.CONNECTING
        this.emit({ type: 'error', data: problem, lastEventId: '' }, problem)
        if (this.readyState === this.CONNECTING) await new Promise((resolve) => setTimeout(resolve, reconnectAfter))
      }
    }

    /** Takes a stream apart: lines, and an empty one after each message. */
    private async read(body: ReadableStream<Uint8Array>): Promise<void> {
      const decoder = new TextDecoder()
      let rest = ''
      let [type, data] = ['', [] as string[]]
      const reader = body.getReader()
      for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
        const lines = (rest + decoder.decode(chunk.value, { stream: true })).split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines) {
          const [, field = '', value = ''] = /^([^:]*):? ?(.*?)\r?$/.exec(line) ?? []
          if (field === 'event') type = value
          if (field === 'data') data.push(value)
          if (field === 'id') this.lastEventId = value
          if (field !== '' || line.startsWith(':')) continue
          if (data.length > 0) this.emit({ type: type || 'message', data: data.join('\n'), lastEventId: this.lastEventId })
          ;[type, data] = ['', []]
        }
      }
    }

    private emit(event: Message, message?: string): void {
      for (const listener of this.listeners.get(event.type) ?? []) listener(message === undefined ? event : Object.assign(new Error(message), event))
    }
  }
}
