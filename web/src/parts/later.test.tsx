import { act, screen } from '@testing-library/react'
import { Component, type ReactNode } from 'react'
import { expect, test, vi } from 'vitest'
import { show } from '../../test/render'
import { later } from './later'

const Greeting = ({ name }: { name: string }) => <p>Good morning, {name}</p>

/** A loader whose promise the test keeps or breaks. */
function loader() {
  type Module = { default: typeof Greeting }
  let resolve!: (module: Module) => void
  let reject!: (error: Error) => void
  const promise = new Promise<Module>((kept, broken) => {
    resolve = kept
    reject = broken
  })
  return { load: vi.fn(() => promise), resolve, reject }
}

class Boundary extends Component<{ children: ReactNode }, { error?: Error }> {
  state: { error?: Error } = {}
  static getDerivedStateFromError = (error: Error) => ({ error })
  render = () => (this.state.error ? <p>Failed: {this.state.error.message}</p> : this.props.children)
}

test('shows what stands in until the code is loaded', async () => {
  const { load, resolve } = loader()
  const { Component: Late } = later(load, ({ name }) => <p>{name} must wait</p>)
  show(<Late name="Ada" />)
  screen.getByText('Ada must wait')
  await act(async () => resolve({ default: Greeting }))
  screen.getByText('Good morning, Ada')
  expect(screen.queryByText('Ada must wait')).toBeNull()
})

test('shows code that was loaded before at once, and loads it once', async () => {
  const { load, resolve } = loader()
  const late = later(load, () => <p>Wait</p>)
  resolve({ default: Greeting })
  await late.load()
  show(<late.Component name="Ada" />)
  screen.getByText('Good morning, Ada')
  await late.load()
  expect(load).toHaveBeenCalledTimes(1)
})

test('throws a failure to load to the error boundary', async () => {
  const { load, reject } = loader()
  const { Component: Late } = later(load)
  show(
    <Boundary>
      <Late name="Ada" />
    </Boundary>,
  )
  await act(async () => reject(new Error('no such file')))
  screen.getByText('Failed: no such file')
  vi.mocked(console.error).mockClear() // React writes every error that reaches a boundary
})
