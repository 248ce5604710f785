import { Button } from '@mantine/core'
import { IconMapQuestion } from '@tabler/icons-react'
import { Link } from 'wouter'
import { EmptyState } from '../parts/empty-state'
import { PageHeader } from '../parts/page-header'

/** The page of an address that leads nowhere. */
export function NotFound() {
  return (
    <>
      <PageHeader title="Page not found" />
      <EmptyState
        icon={<IconMapQuestion />}
        title="Nothing is at this address"
        text="It may be mistyped, or what it showed was deleted."
        action={
          <Button component={Link} href="/blueprints">
            Go to the blueprints
          </Button>
        }
      />
    </>
  )
}
