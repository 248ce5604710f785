import { fireEvent, screen, waitFor } from '@testing-library/react'
import { useState } from 'react'
import { expect, test } from 'vitest'
import { show } from '../../test/render'
import { type Call, inputsOf, Refusal, serve } from '../../test/server'
import type { Names } from './names'
import { SchemaForm } from './schema-form'
import type { FormIssue } from './types'

const input = { value: { total: 12, name: 'Ada', token: '***' }, seen: true }
const names: Names = {
  input,
  inputData: input,
  later: { schema: { type: 'string' } },
  key: { schema: { type: 'string' }, secret: true },
}
const path = 'blueprint.evaluateExpressions'
type Input = { expressions: { text: string; language: string }[]; data: unknown }

function form(fields: Record<string, string>, answer: (text: string) => object): Call[] {
  const calls = serve({ [path]: (input: Input) => ({ results: input.expressions.map(({ text }) => answer(text)) }) })
  function Form() {
    const [value, setValue] = useState<unknown>(fields)
    const properties = Object.fromEntries(
      Object.keys(fields).map((key) => [key, { type: 'string', format: key === 'text' ? undefined : 'expression' }]),
    )
    // New names at each change, as in the editor.
    return (
      <SchemaForm schema={{ type: 'object', properties }} value={value} onChange={setValue} complete={{ ...names }} />
    )
  }
  show(<Form />)
  return calls
}
const write = (label: RegExp, text: string) =>
  fireEvent.change(screen.getByRole('textbox', { name: label }), { target: { value: text } })

test('shows what all expressions of a form evaluate to, from one request', async () => {
  const calls = form({ first: 'input.total * 2', second: 'input.name + "!"', text: 'plain' }, (text) => ({
    value: text.includes('total') ? 24 : 'Ada!',
  }))
  expect(await screen.findByText('24')).toHaveProperty('textContent', 'Last run: 24')
  expect(screen.getByText('"Ada!"')).toBeTruthy()
  expect(inputsOf(calls, path)).toEqual([
    {
      expressions: [
        { text: 'input.total * 2', language: 'expression' },
        { text: 'input.name + "!"', language: 'expression' },
      ],
      data: { input: input.value },
    },
  ])
})

test('evaluates what was typed last, once the typing pauses, and no other field again', async () => {
  const calls = form({ first: 'input.total * 2', second: '1 + 1' }, (text) => ({ value: `is ${text}` }))
  await screen.findByText('"is 1 + 1"')
  for (const text of ['input.total * 3', 'input.total * 30', 'input.total * 300']) write(/First/, text)
  expect(await screen.findByText('"is input.total * 300"')).toBeTruthy()
  const asked = inputsOf(calls, path).map((each) => (each as Input).expressions.map(({ text }) => text))
  expect(asked).toEqual([['input.total * 2', '1 + 1'], ['input.total * 300']])
})

test('shows why an expression fails with this data, and where', async () => {
  form({ first: 'input.name * 2' }, () => ({
    value: null,
    error: { code: 'expression_failed', message: '* cannot take a string and a number', line: 1, column: 12 },
  }))
  expect(await screen.findByText(/fails at column 12: \* cannot take a string and a number/)).toBeTruthy()
})

test('says that a node fails with a condition that is neither true nor false, in the words of the run', async () => {
  const message = 'must be true or false, and is a number'
  const properties = { when: { type: 'string', format: 'expression', 'x-kind': 'condition' } }
  const calls = serve({
    [path]: () => ({ results: [{ value: 12, error: { code: 'not_boolean', message } }] }),
  })
  function Form() {
    const [issues, setIssues] = useState<FormIssue[]>([])
    const always = { path: ['when'], message: 'a condition must be true or false, this is always a number' }
    return (
      <>
        <SchemaForm
          schema={{ type: 'object', properties }}
          value={{ when: 'input.total' }}
          onChange={() => {}}
          complete={names}
          issues={issues}
        />
        <button onClick={() => setIssues([always])}>Validate</button>
      </>
    )
  }
  const user = show(<Form />)
  expect(await screen.findByText(`The node fails with this value: ${message}`)).toBeTruthy()
  expect(screen.getByText('12')).toHaveProperty('textContent', 'Last run: 12')
  const asked = () => inputsOf(calls, path).map((each) => (each as Input).expressions[0])
  expect(asked()).toEqual([{ text: 'input.total', language: 'condition' }])

  // A problem of the field says it already.
  await user.click(screen.getByRole('button', { name: 'Validate' }))
  await waitFor(() => expect(screen.queryByText(/The node fails/)).toBeNull())
  expect(screen.getByText('12')).toBeTruthy()
})

test('leaves malformed expressions to the problems of the field', async () => {
  const calls = form({ first: 'input.total *' }, () => ({
    value: null,
    error: { code: 'bad_expression', message: 'the expression ends too early' },
  }))
  await waitFor(() => expect(inputsOf(calls, path)).toHaveLength(1))
  expect(screen.queryByText(/ends too early/)).toBeNull()
})

test('says that a value was computed with masked values', async () => {
  form({ first: 'input.token == "x"' }, () => ({ value: false, masked: true }))
  expect(await screen.findByText('Computed with *** in place of masked values')).toBeTruthy()
})

test('names a value that the run does not have, and asks for nothing', () => {
  const calls = form({ first: 'later + "!"' }, () => ({ value: '' }))
  expect(screen.getByText('No value: later has no data in this run')).toBeTruthy()
  expect(inputsOf(calls, path)).toEqual([])
})

test('says that a secret is not shown, and asks for nothing', () => {
  const calls = form({ first: 'key == "x" and later', text: 'Bearer {{key}}' }, () => ({ value: '' }))
  expect(screen.getAllByText('Not shown: key is a secret variable')).toHaveLength(2)
  expect(screen.queryByText(/No value/)).toBeNull()
  expect(inputsOf(calls, path)).toEqual([])
})

test('shows nothing when the server refuses', async () => {
  const calls = form({ first: 'input.total * 2' }, () => {
    throw new Refusal('TOO_MANY_REQUESTS', 'too many calls')
  })
  await waitFor(() => expect(inputsOf(calls, path)).toHaveLength(1))
  expect(screen.queryByText(/Last run/)).toBeNull()
})
