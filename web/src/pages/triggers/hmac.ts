/** HMAC-SHA256. Browsers provide crypto.subtle only over https or on localhost; otherwise it is computed here. */

/** The HMAC-SHA256 (32 bytes) of a text in UTF-8 with a key. */
export async function hmacSha256(key: Uint8Array<ArrayBuffer>, text: string): Promise<Uint8Array> {
  const message = new TextEncoder().encode(text)
  const subtle = globalThis.crypto?.subtle as SubtleCrypto | undefined
  if (!subtle || key.length === 0) return plainHmac(key, message)
  const imported = await subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  return new Uint8Array(await subtle.sign('HMAC', imported, message))
}

/** Bytes in hexadecimal. */
export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Bytes in base64. */
export function base64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
}

/** The same in plain JavaScript. */
export function plainHmac(key: Uint8Array, message: Uint8Array): Uint8Array {
  const block = new Uint8Array(64)
  block.set(key.length > 64 ? sha256(key) : key)
  const pad = (with_: number) => block.map((byte) => byte ^ with_)
  return sha256(join(pad(0x5c), sha256(join(pad(0x36), message))))
}

// The constants of FIPS 180-4: the first 32 bits of the fractional parts of the cube roots, and square roots, of
// primes.
const primes: number[] = []
for (let candidate = 2; primes.length < 64; candidate++)
  if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate)
const fraction = (value: number) => ((value - Math.floor(value)) * 2 ** 32) | 0
const rounds = primes.map((prime) => fraction(Math.cbrt(prime)))
const begin = primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)))

function sha256(message: Uint8Array): Uint8Array {
  const length = Math.ceil((message.length + 9) / 64) * 64
  const padded = new Uint8Array(length)
  padded.set(message)
  padded[message.length] = 0x80
  const view = new DataView(padded.buffer)
  view.setUint32(length - 8, Math.floor(message.length / 2 ** 29))
  view.setUint32(length - 4, (message.length << 3) >>> 0)
  const state = [...begin]
  const word = new Int32Array(64)
  const turn = (value: number, by: number) => (value >>> by) | (value << (32 - by))
  for (let at = 0; at < length; at += 64) {
    for (let i = 0; i < 64; i++) {
      if (i < 16) word[i] = view.getInt32(at + i * 4)
      else {
        const [x, y] = [word[i - 15]!, word[i - 2]!]
        word[i] =
          (turn(y, 17) ^ turn(y, 19) ^ (y >>> 10)) +
          word[i - 7]! +
          (turn(x, 7) ^ turn(x, 18) ^ (x >>> 3)) +
          word[i - 16]!
      }
    }
    let [a, b, c, d, e, f, g, h] = state as [number, number, number, number, number, number, number, number]
    for (let i = 0; i < 64; i++) {
      const one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + rounds[i]! + word[i]!) | 0
      const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0
      ;[h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0]
    }
    ;[a, b, c, d, e, f, g, h].forEach((value, i) => {
      state[i] = (state[i]! + value) | 0
    })
  }
  const out = new DataView(new ArrayBuffer(32))
  state.forEach((value, i) => out.setInt32(i * 4, value))
  return new Uint8Array(out.buffer)
}

function join(...parts: Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    out.set(part, at)
    at += part.length
  }
  return out
}
