import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'
import { expect, test } from 'vitest'
import { show } from '../../test/render'
import { VariablesEditor } from './variables-editor'

function edit(start: unknown[]) {
  let current = start
  function Panel() {
    const [variables, setVariables] = useState(start)
    const change = (next: unknown[]) => {
      current = next
      setVariables(next)
    }
    return <VariablesEditor variables={variables} onChange={change} />
  }
  show(<Panel />)
  return { user: userEvent.setup(), value: () => current }
}

test('a variable is added and named', async () => {
  const { user, value } = edit([])
  await user.click(screen.getByRole('button', { name: /^Add/ }))
  const name = screen.getByRole('textbox', { name: 'Name' })
  await user.clear(name)
  await user.type(name, 'region')
  expect(value()).toMatchObject([{ name: 'region' }])
})

test('a reserved name is refused at its field', async () => {
  const { user } = edit([{ name: 'region', type: 'string' }])
  await user.click(screen.getByRole('button', { expanded: false, name: /^region/ }))
  const name = screen.getByRole('textbox', { name: 'Name' })
  await user.clear(name)
  await user.type(name, 'now')
  expect(name.getAttribute('aria-invalid')).toBe('true')
})
