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

/** Which messages are meant: those that fit all that is given; * stands for anything. `procedure` and `route` are of the server itself: "blueprint.execute", "webhooks". */
export interface Match {
  procedure?: string
  route?: string
  host?: string
  nodeType?: string
  method?: string
  path?: string
  nodeId?: string
  executionId?: string
}

/** What has to be asked. */
export interface Expectation {
  match: Match
  /** How often; without it, at least once. */
  times?: number | { min?: number; max?: number }
  /** What the request has to have, each as far as it is given. */
  request?: { method?: string; url?: string; headers?: Record<string, string>; body?: unknown }
}

/** Whether everything expected has come. */
export interface Verdict {
  met: boolean
  unmet: { expect: unknown; came: number; problem: string; index: number }[]
}

/** Which messages to list. */
export interface CallFilter {
  executionId?: string
  nodeType?: string
  host?: string
  limit?: number
}

/** A webhook to send to a trigger of the server. */
export interface Sending {
  /** The trigger's id. */
  webhook: string
  body: unknown
  preset?: 'github' | 'stripe' | 'slack' | 'standard'
  headers?: Record<string, string>
}

/** How the sandbox answers instead of its fakes, or a procedure instead of doing anything. */
export interface Rule {
  /** Which messages it answers. */
  match: Match
  /** How often; without it, always. */
  times?: number
  answer: {
    status?: number
    headers?: Record<string, string>
    body?: unknown
    delayMs?: number
    /** Cut the connection. */
    close?: boolean
    /** Of a procedure: refuse a batch before any of its calls is made, as the rate limit does. */
    whole?: boolean
    /** There is no connection, and this is why. */
    error?: string
  }
}
