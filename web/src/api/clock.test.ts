import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noteClock, now, onClock, serverNow } from './clock.ts'

test('a virtual clock reports its time and when it is advanced; a real clock only its offset', () => {
  let moved = 0
  const stop = onClock(() => {
    moved++
  })
  const at = Date.parse('2030-01-01T00:00:00Z')
  noteClock({ at, here: 0, virtual: true })
  noteClock({ at, here: 5, virtual: true })
  assert.deepEqual([now(), serverNow(), moved], [at, at, 1])
  noteClock({ at: at + 60_000, here: 0, virtual: true })
  assert.deepEqual([now(), moved], [at + 60_000, 2])
  noteClock({ at: Number.NaN, here: 0, virtual: true })
  assert.equal(now(), at + 60_000)
  noteClock({ at: Date.now() + 90_000, here: Date.now(), virtual: false })
  assert.equal(moved, 3)
  assert.ok(Math.abs(now() - Date.now()) < 1000)
  assert.ok(Math.abs(serverNow() - Date.now() - 90_000) < 1000)
  stop()
  noteClock({ at, here: 0, virtual: true })
  assert.equal(moved, 3)
  noteClock({ at: 0, here: 0, virtual: false })
})
