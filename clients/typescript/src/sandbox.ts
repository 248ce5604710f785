/** One message of a node to another service, and what the sandbox answered. */
export interface Call {
  at: string
  executionId: string
  nodeId: string
  nodeType: string
  /** A mail has the method MAIL. */
  request: { method: string; url: string; headers?: Record<string, string>; body?: unknown }
  /** Absent when none came; `error` says why. */
  response?: { status: number; headers?: Record<string, string>; body?: unknown }
  error?: string
}

/** How the sandbox answers instead of its fakes, or a procedure instead of doing anything. */
export interface Rule {
  /** Which messages it answers: those that fit all that is given; * stands for anything. `procedure` and `route` are of this server: "blueprint.execute", "webhooks". */
  match: { procedure?: string; route?: string; host?: string; nodeType?: string; method?: string; path?: string; nodeId?: string; executionId?: string }
  /** How often; without it, always. */
  times?: number
  answer: {
    status?: number
    headers?: Record<string, string>
    body?: unknown
    delayMs?: number
    /** Cut the connection. */
    close?: boolean
    /** There is no connection, and this is why. */
    error?: string
  }
}
