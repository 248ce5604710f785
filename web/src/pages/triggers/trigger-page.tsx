import { EmptyState, PageHeader } from '../../parts'

/** This page is not built yet. */
export default function TriggerPage() {
  return (
    <>
      <PageHeader title="Trigger" />
      <EmptyState title="Not built yet" text="The command line and the API can do what this page will show." />
    </>
  )
}
