import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { Link } from 'wouter'
import { PageHeader } from '../../parts'
import { AllTriggers } from './triggers-view'
import { triggersPageText } from '../../text/triggers'
import { commonText } from '../../text/common'

/** /triggers: all triggers. */
export default function TriggersPage() {
  return (
    <>
      <PageHeader
        title={commonText.triggers}
        actions={
          <Button component={Link} href="/triggers/new" leftSection={<IconPlus size={17} aria-hidden />}>
            {triggersPageText.newTrigger}
          </Button>
        }
      />
      <AllTriggers />
    </>
  )
}
