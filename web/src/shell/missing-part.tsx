import { Button, Group, Text, Title } from '@mantine/core'
import { useEffect, useState } from 'react'
import { askNow, isThere, onReturn } from '../api/reach'
import { missingPartText } from '../text/shell'
import { commonText } from '../text/common'

/**
 * Says why the code of a page could not be loaded: the server is away, or runs another version now. A failed load is
 * permanent until a reload, which happens when the server is back.
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
      <Title order={1}>{there ? missingPartText.theDashboardWasUpdated : missingPartText.cannotReachTheServer}</Title>
      <Text>{there ? missingPartText.theServerHasANewerVersion : missingPartText.thisPageIsNotLoadedYet}</Text>
      <Group>
        <Button onClick={there ? () => location.reload() : askNow}>
          {there ? commonText.reload : missingPartText.tryNow}
        </Button>
        {there && (
          <Button variant="default" component="a" href="/">
            {missingPartText.goToTheStartPage}
          </Button>
        )}
      </Group>
    </>
  )
}
