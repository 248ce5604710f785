import { Button } from '@mantine/core'
import { Link } from 'wouter'
import { PageHeader } from '../../parts'
import { RunsView } from './runs-view'

/** All runs that one may see. */
export default function RunsPage() {
  return (
    <>
      <PageHeader title="Runs" text="Every execution of your blueprints, as it happens." />
      <RunsView
        begin={
          <Button component={Link} href="/blueprints">
            Go to the blueprints
          </Button>
        }
      />
    </>
  )
}
