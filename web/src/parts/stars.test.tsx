import { expect, test } from 'vitest'
import { screen } from '@testing-library/react'
import { show } from '../../test/render'
import { Stars } from './stars'

test('a screen reader reads the choices, not the pictures', () => {
  show(<Stars value={3} label="Your rating" onRate={() => {}} />)
  expect(screen.getByRole('radio', { name: '3 of 5 stars' })).toHaveProperty('checked', true)
  expect(document.querySelectorAll('svg:not([aria-hidden])')).toHaveLength(0)
})
