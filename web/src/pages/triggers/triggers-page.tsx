import { EmptyState, PageHeader } from '../../parts'

/** This page is not built yet. */
export default function TriggersPage() {
  return (
    <>
      <PageHeader title="Triggers" />
      <EmptyState title="Not built yet" text="The command line and the API can do what this page will show." />
    </>
  )
}
