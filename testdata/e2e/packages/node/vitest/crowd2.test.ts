// The other half of the hundred servers; see crowd.test.ts.
import { appendFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { startBlueprintd } from 'blueprintd'

test('fifty servers', { timeout: 60_000 }, async () => {
  const servers = await Promise.all(Array.from({ length: 50 }, () => startBlueprintd()))
  appendFileSync(process.env['PIDS']!, servers.map(({ pid }) => `${pid}\n`).join(''))
  expect(new Set(servers.map(({ pid }) => pid)).size).toBe(50)
  await Promise.all(servers.map((server) => server.stop()))
  for (const { pid } of servers) expect(() => process.kill(pid, 0)).toThrow('ESRCH')
})

