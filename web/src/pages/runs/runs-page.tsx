import { Button } from '@mantine/core'
import { Link } from 'wouter'
import { PageHeader } from '../../parts'
import { RunsView } from './runs-view'
import { runsPageText } from '../../text/runs'
import { commonText } from '../../text/common'

/** All visible runs. */
export default function RunsPage() {
  return (
    <>
      <PageHeader title={commonText.runs} />
      <RunsView
        begin={
          <Button component={Link} href="/blueprints">
            {runsPageText.goToBlueprints}
          </Button>
        }
      />
    </>
  )
}
