import { Button } from '@mantine/core'
import { IconMapQuestion } from '@tabler/icons-react'
import { Link } from 'wouter'
import { EmptyState } from '../parts/empty-state'
import { PageHeader } from '../parts/page-header'
import { notFoundText } from '../text/shell'

/** The page for unknown addresses. */
export function NotFound() {
  return (
    <>
      <PageHeader title={notFoundText.pageNotFound} />
      <EmptyState
        icon={<IconMapQuestion />}
        title={notFoundText.noPageHasThisAddress}
        text={notFoundText.itMayBeMistypedOr}
        action={
          <Button component={Link} href="/blueprints">
            {notFoundText.goToBlueprints}
          </Button>
        }
      />
    </>
  )
}
