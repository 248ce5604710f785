import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { Link } from 'wouter'
import { PageHeader } from '../../parts'
import { AllTriggers } from './triggers-view'

/** /triggers: what starts blueprints. */
export default function TriggersPage() {
  return (
    <>
      <PageHeader
        title="Triggers"
        text="What starts your blueprints, and when."
        actions={
          <Button component={Link} href="/triggers/new" leftSection={<IconPlus size={17} aria-hidden />}>
            New trigger
          </Button>
        }
      />
      <AllTriggers />
    </>
  )
}
