import { screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { show } from '../../../test/render'
import { RecentRuns } from './recent-runs'

type Run = Parameters<typeof RecentRuns>[0]['of']['recent_runs'][number]
const run = (executionId: string, status: Run['status'], seconds: number): Run => ({
  executionId,
  status,
  startTime: '2030-05-01T12:00:00.000Z',
  endTime: new Date(Date.UTC(2030, 4, 1, 12, 0, seconds)).toISOString(),
})

test('draws the runs from the oldest to the newest and says what they show', () => {
  const runs = [run('c', 'paused', 0), run('b', 'completed', 100), run('a', 'completed', 3)]
  show(<RecentRuns of={{ id: 'b1', recent_runs: runs }} />)
  const link = screen.getByRole('link', {
    name: 'The last 3 runs: 1 waiting, 2 completed; the longest took 1 min 40 s',
  })
  expect(link.getAttribute('href')).toBe('/blueprints/b1/runs')
  const bars = [...link.children] as HTMLElement[]
  expect(bars.map((bar) => bar.dataset.status)).toEqual(['completed', 'completed', 'paused'])
  const heights = bars.map((bar) => Number.parseFloat(bar.style.height))
  expect(heights[1]).toBe(100)
  expect(heights[2]).toBe(25)
  expect(heights[0]).toBeGreaterThan(25)
})

test('draws nothing for a single run', () => {
  show(<RecentRuns of={{ id: 'b1', recent_runs: [run('a', 'completed', 3)] }} />)
  expect(screen.queryByRole('link')).toBeNull()
})
