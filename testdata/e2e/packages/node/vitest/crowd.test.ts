// A hundred servers at once, half of them in each of two concurrent test files; the suite checks that none is left.
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

test('await using stops the server', async () => {
  let pid: number
  {
    await using server = await startBlueprintd()
    pid = server.pid
    expect(() => process.kill(pid, 0)).not.toThrow()
  }
  expect(() => process.kill(pid, 0)).toThrow('ESRCH')
})

test('missing executable', async () => {
  await expect(startBlueprintd({ binary: './nowhere' })).rejects.toThrow(/option binary names .*nowhere, which is no program\.\nhint: /)
  await expect(startBlueprintd({ args: ['--nonsense'] })).rejects.toThrow(/did not become ready(.|\n)*nonsense/)
})
