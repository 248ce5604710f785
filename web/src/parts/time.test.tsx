import { screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { show } from '../../test/render'
import { showAbsolute } from './time-words'
import { WithTimes } from './time'

test('shows the times of a text in the time zone of the reader', () => {
  show(
    <p>
      <WithTimes text="received 2026-11-29 09:36:43 UTC, next check at 2026-11-30T06:30:00Z, not 2026-11-30" />
    </p>,
  )
  const [first, second] = ['2026-11-29T09:36:43Z', '2026-11-30T06:30:00Z'].map((at) => showAbsolute(new Date(at)))
  expect(screen.getByRole('paragraph').textContent).toBe(`received ${first}, next check at ${second}, not 2026-11-30`)
})
