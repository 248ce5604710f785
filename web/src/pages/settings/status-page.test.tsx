import { screen, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import { show } from '../../../test/render'
import { Refusal, serve } from '../../../test/server'
import StatusPage from './status-page'

const hour = { completed: 0, failed: 0, meanMs: null, slowestMs: null }
const status = {
  ready: true,
  checks: [{ name: 'database', ok: true, detail: 'last commit just now' }],
  now: '2030-05-01T12:00:00.000Z',
  version: '1.4.0',
  goVersion: 'go1.26.8',
  database: 'sqlite',
  schemaVersion: 9,
  startedAt: '2030-05-01T10:00:00.000Z',
  runs: { working: 3, maxRunning: 1000, queued: 2, maxQueued: 10_000, blocked: 0, waiting: 5, paused: 7 },
  schedules: { active: 2, overdue: 0, missed: 1 },
  disk: { database: 1024, free: 3 * 1024, limit: 0 },
  memoryBytes: 40 * 1024 * 1024,
  openConnections: 4,
  processes: [],
  hours: Array.from({ length: 24 }, (_, at) => ({
    ...hour,
    start: new Date(Date.UTC(2030, 3, 30, 13 + at)).toISOString(),
  })),
  totals: { completed: 9, failed: 1, meanMs: 2, slowestMs: 5 },
}
const schedule = (id: string, label: string, next: string | null) => ({
  id,
  trigger_type: 'scheduled',
  config: { label },
  blueprint_title: 'Report',
  next_at: next,
})

function open(answer: () => object) {
  serve({
    'server.getStatus': answer,
    'server.getInfo': () => ({ now: status.now, clock: 'system', mayOperate: true }),
    'blueprintTriggers.listAll': ({ page }: { page: number }) => ({
      data:
        page === 1
          ? [schedule('t1', 'Monthly', '2030-06-01T00:00:00.000Z'), schedule('t3', 'Never again', null)]
          : [schedule('t2', 'Hourly', '2030-05-01T13:00:00.000Z')],
      pagination: { totalPages: 2 },
    }),
  })
  show(<StatusPage />, '/settings/status')
}

test('shows a healthy server at work', async () => {
  open(() => status)
  await screen.findByText('All checks passed')
  screen.getByText('3 of 1,000')
  screen.getByText('5 for a timer, 7 for an answer')
  screen.getByText('SQLite, schema version 9')
  expect(screen.queryByText('Processes')).toBeNull()
  await screen.findByRole('link', { name: 'Hourly' })
  const rows = within(screen.getByRole('table', { name: 'Next scheduled runs' })).getAllByRole('row')
  expect(rows.slice(1).map((row) => within(row).getByRole('rowheader').textContent)).toEqual(['Hourly', 'Monthly'])
})

test('says which check failed and what to do', async () => {
  open(() => ({
    ...status,
    ready: false,
    checks: [...status.checks, { name: 'disk', ok: false, detail: '1 MB free', hint: 'make room on the disk' }],
    database: 'postgres',
    processes: [{ name: 'one', state: 'live', leaseSeconds: 4.25, duties: ['schedules'] }],
  }))
  const note = within(await screen.findByRole('alert'))
  note.getByText('Not ready: it accepts no work')
  expect(note.getByText('disk').parentElement!.textContent).toBe('disk: 1 MB free. make room on the disk')
  within(screen.getByRole('table', { name: 'Processes' })).getByText('4.3 s')
})

test('refuses everybody but the owner', async () => {
  open(() => {
    throw new Refusal('FORBIDDEN', 'only the owner of this server may see its status')
  })
  await screen.findByText(/only the owner of this server may see its status/i)
})
