import { Button, Code, Group, Stack, Text, Title } from '@mantine/core'
import { Component, type ErrorInfo, type ReactNode } from 'react'
import { MissingPart } from './missing-part'
import { errorBoundaryText } from '../text/shell'
import { commonText } from '../text/common'

/** Shows the error when a page crashes. `within`: one page inside the shell, so that the navigation still works. */
export class ErrorBoundary extends Component<{ children: ReactNode; within?: boolean }, { failure?: unknown }> {
  override state: { failure?: unknown } = {}

  static getDerivedStateFromError(failure: unknown) {
    return { failure }
  }

  override componentDidCatch(failure: unknown, info: ErrorInfo) {
    console.error(failure, info.componentStack)
  }

  override render() {
    const { failure } = this.state
    if (failure === undefined) return this.props.children
    return (
      <Stack component={this.props.within ? 'section' : 'main'} maw={560} mx="auto" p="md" pt="10vh" role="alert">
        {isMissingChunk(failure) ? <MissingPart /> : <Broken failure={failure} />}
      </Stack>
    )
  }
}

function Broken({ failure }: { failure: unknown }) {
  return (
    <>
      <Title order={1}>{errorBoundaryText.thisPageFailed}</Title>
      <Text>{errorBoundaryText.theDashboardHasABugYour}</Text>
      <Code block>{failure instanceof Error ? `${failure.name}: ${failure.message}` : String(failure)}</Code>
      <Group>
        <Button onClick={() => location.reload()}>{commonText.reload}</Button>
        <Button variant="default" component="a" href="/">
          {errorBoundaryText.goToTheStartPage}
        </Button>
      </Group>
    </>
  )
}

// After an upgrade the files of the old version are gone, and without a server all are; browsers report it with
// different messages.
function isMissingChunk(failure: unknown): boolean {
  return (
    failure instanceof Error && /dynamically imported module|module script failed|preload CSS/i.test(failure.message)
  )
}
