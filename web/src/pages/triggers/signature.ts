import { base64, hex, hmacSha256 } from './hmac'
import { signatureText } from '../../text/triggers'

/** Header names and values. */
export type Headers = [name: string, value: string][]

/** The inputs of a signature. */
export type ToSign = {
  /** config.preset; empty for none. */
  preset: string
  /** Empty: no signature. */
  secret: string
  body: string
  /** The server's time, in seconds since 1970. */
  seconds: number
  /** The id of the delivery, if a header contains it. */
  id: string
}

/** Reports whether the preset signs the time too, so that a signature is valid for only five minutes. */
export function signsTime(preset: string): boolean {
  return preset === 'stripe' || preset === 'slack' || preset === 'standard'
}

/** The headers with which the sender of a preset signs a body. */
export async function signedHeaders({ preset, secret, body, seconds, id }: ToSign): Promise<Headers> {
  if (secret === '') return []
  const bytes = new TextEncoder().encode(secret)
  const sign = (before: string, key = bytes) => hmacSha256(key, before + body)
  switch (preset) {
    case 'github':
      return [
        ['X-GitHub-Delivery', id],
        ['X-Hub-Signature-256', `sha256=${hex(await sign(''))}`],
      ]
    case 'stripe':
      return [['Stripe-Signature', `t=${seconds},v1=${hex(await sign(`${seconds}.`))}`]]
    case 'slack':
      return [
        ['X-Slack-Request-Timestamp', String(seconds)],
        ['X-Slack-Signature', `v0=${hex(await sign(`v0:${seconds}:`))}`],
      ]
    case 'standard':
      return [
        ['webhook-id', id],
        ['webhook-timestamp', String(seconds)],
        ['webhook-signature', `v1,${base64(await sign(`${id}.${seconds}.`, standardKey(secret)))}`],
      ]
    default:
      return [['X-Webhook-Signature', `sha256=${hex(await sign(''))}`]]
  }
}

/** The key of Standard Webhooks: the decoded base64 after whsec_, else the text itself. */
export function standardKey(secret: string): Uint8Array<ArrayBuffer> {
  if (secret.startsWith('whsec_')) {
    try {
      const bytes = Uint8Array.from(atob(secret.slice(6)), (char) => char.charCodeAt(0))
      if (bytes.length > 0) return bytes
    } catch {
      // not base64: the text is the key
    }
  }
  return new TextEncoder().encode(secret)
}

/** A curl command for a POSIX shell that sends exactly this body. */
export function curlOf(url: string, headers: Headers, body: string): string {
  const lines = [
    `curl -X POST ${quote(url)}`,
    `-H ${quote('Content-Type: application/json')}`,
    ...headers.map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    `--data-binary ${quote(body)}`,
  ]
  return lines.join(' \\\n  ')
}

/** Quotes a text for a POSIX shell. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** A new secret: 32 random bytes, base64url; for Standard Webhooks in their format. */
export function newSecret(preset: string): string {
  const bytes = crypto.getRandomValues(new Uint8Array(preset === 'standard' ? 24 : 32))
  const text = base64(bytes)
  return preset === 'standard' ? `whsec_${text}` : text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

/** A sample body of a preset's sender, with its own id so that it is not a duplicate. */
export function sampleBody(preset: string, id: string): string {
  const sample: Record<string, unknown> = {
    github: { action: 'opened', number: 7, repository: { full_name: 'ada/engine' }, sender: { login: 'ada' } },
    stripe: {
      id: `evt_${id}`,
      type: 'invoice.paid',
      data: { object: { id: 'in_1', amount_paid: 4200, currency: 'eur' } },
    },
    slack: {
      type: 'event_callback',
      event_id: `Ev${id}`,
      event: { type: 'message', channel: 'C0123456789', user: 'U0123456789', text: signatureText.sampleText },
    },
    standard: {
      type: 'user.created',
      timestamp: '2026-01-01T00:00:00Z',
      data: { id: 'user_1', email: 'ada@example.org' },
    },
  }[preset] ?? { order: 1001, customer: 'ada@example.org', total: 42.5 }
  return JSON.stringify(sample, null, 2)
}
