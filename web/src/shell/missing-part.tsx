import { Button, Group, Text, Title } from '@mantine/core'
import { useEffect, useState } from 'react'
import { askNow, isThere, onReturn } from '../api/reach'

/**
 * Says why the code of a page could not be fetched: the server is away, or it has another version by now. What failed
 * once stays failed until a reload, which comes by itself when the server is back.
 */
export function MissingPart() {
  const [there, setThere] = useState<boolean>()
  useEffect(() => {
    void isThere().then(setThere)
    return onReturn(() => location.reload())
  }, [])
  if (there === undefined) return null
  return (
    <>
      <Title order={1}>{there ? 'The dashboard was updated' : 'The server does not answer'}</Title>
      <Text>
        {there
          ? 'The server has a newer version of this dashboard. Reload to go on.'
          : 'This page was not fetched before, so it cannot be shown now. It opens by itself when the server is back. What was saved is safe.'}
      </Text>
      <Group>
        <Button onClick={there ? () => location.reload() : askNow}>{there ? 'Reload' : 'Try now'}</Button>
        {there && (
          <Button variant="default" component="a" href="/">
            Go to the start
          </Button>
        )}
      </Group>
    </>
  )
}
