/** Descriptions of the exchanges of a run, without React. */
import type { Outputs } from '../../api/client'
import { show } from '../../api/json'
import { trafficWordsText } from '../../text/runs'

/** A request to another service and its response. */
export type Exchange = Outputs['execution']['getExchanges']['exchanges'][number]
/** A body for display. */
export type Body =
  | { kind: 'none' }
  | { kind: 'text'; text: string }
  | { kind: 'bytes'; base64: string; size: number }
  | { kind: 'value'; value: unknown }

/** Reports whether it is a mail, not an HTTP request. */
export function isMail(exchange: Exchange): boolean {
  return exchange.request.method === 'MAIL'
}

/** The target on one line: host and path, or the recipients of a mail. */
export function targetOf(exchange: Exchange): string {
  const { url, headers } = exchange.request
  if (isMail(exchange)) {
    const to = [headers?.to, headers?.cc, headers?.bcc].filter(Boolean).join(', ')
    return [to ? trafficWordsText.to(to) : trafficWordsText.noRecipient, headers?.subject].filter(Boolean).join(': ')
  }
  // Without URL, which would re-encode templates and masked parts.
  return url.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
}

/** The outcome in a word or two, and whether it is a failure. */
export function outcomeOf({ response, error }: Exchange): { text: string; failed: boolean } {
  if (response) return { text: String(response.status), failed: response.status >= 400 || error !== undefined }
  return {
    text: error === undefined ? trafficWordsText.noResponseYet : trafficWordsText.noResponse,
    failed: error !== undefined,
  }
}

/** A stored body: JSON, text, or bytes in an object with one key. */
export function bodyOf(body: unknown): Body {
  if (body === undefined || body === null) return { kind: 'none' }
  if (typeof body === 'string') return body === '' ? { kind: 'none' } : { kind: 'text', text: body }
  if (typeof body === 'object' && Object.keys(body).length === 1) {
    const { $base64 } = body as { $base64?: unknown }
    if (typeof $base64 === 'string')
      return { kind: 'bytes', base64: $base64, size: Math.floor(($base64.replace(/=+$/, '').length * 3) / 4) }
  }
  return { kind: 'value', value: body }
}

/** Reports whether a step, or one within it, sent it. */
export function isOf(exchange: Exchange, address: string): boolean {
  const node = exchange.nodeId ?? ''
  return node === address || node.startsWith(`${address}/`) || node.startsWith(`${address}[`)
}

// Headers that curl creates itself, or that belong to the connection.
const own = new Set(['host', 'content-length', 'accept-encoding', 'connection', 'transfer-encoding'])

/** The request as a command for a POSIX shell; undefined for a mail. Masked parts must be filled in by hand. */
export function curlOf(exchange: Exchange): string | undefined {
  if (isMail(exchange)) return undefined
  const { method, url, headers = {}, body } = exchange.request
  const lines = [`curl -X ${quote(method)} ${quote(url)}`]
  for (const [name, value] of Object.entries(headers))
    if (!own.has(name)) lines.push(`-H ${quote(`${name}: ${value}`)}`)
  const kept = bodyOf(body)
  const first: string[] = []
  if (kept.kind === 'text') lines.push(`--data-raw ${quote(kept.text)}`)
  if (kept.kind === 'value') lines.push(`--data-raw ${quote(show(kept.value, 0))}`)
  if (kept.kind === 'bytes') {
    first.push(`base64 -d <<< ${quote(kept.base64)} |`)
    lines.push('--data-binary @-')
  }
  return [...first, lines.join(' \\\n  ')].join(' ')
}

function quote(text: string): string {
  return /^[\w./:@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
