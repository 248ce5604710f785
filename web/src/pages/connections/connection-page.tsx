import { Badge, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from 'wouter'
import { api } from '../../api/client'
import { useSignedIn } from '../../api/session'
import { DocLink, ErrorNote, PageHeader, Unopened } from '../../parts'
import { ConnectionForm } from './connection-form'
import classes from './connections.module.css'
import { ConnectionSide } from './connection-side'
import { DeleteConnection } from './delete-connection'
import { NewConnection } from './new-connection'
import { mayChange } from './owner'
import { typeTitle, useTypes } from './types'
import { connectionPageText } from '../../text/connections'
import { commonText } from '../../text/common'

const crumbs = [{ title: commonText.connections, href: '/connections' }]

/** One connection, or the form of a new one. */
export default function ConnectionPage() {
  const { id } = useParams<{ id: string }>()
  return id === 'new' ? <NewConnection /> : <One key={id} id={id} />
}

function One({ id }: { id: string }) {
  const session = useSignedIn()
  const connection = useQuery({ queryKey: ['connection', 'get', id], queryFn: () => api.connection.get.query({ id }) })
  const types = useTypes()
  const one = connection.data
  if (!one)
    return (
      <>
        <PageHeader title={commonText.connection} breadcrumbs={crumbs} />
        {connection.isPending && <Skeleton h={320} radius="md" />}
        {connection.error && (
          <Unopened
            error={connection.error}
            missing={connectionPageText.connectionNotFound}
            list={{ href: '/connections', title: connectionPageText.allConnections }}
            onRetry={() => void connection.refetch()}
          />
        )}
      </>
    )
  const may = mayChange(one, session)
  const type = types.data?.find((known) => known.type === one.type)
  return (
    <>
      <PageHeader
        title={one.name}
        breadcrumbs={crumbs}
        badge={<Badge color="gray">{typeTitle(one.type)}</Badge>}
        text={
          type && (
            <>
              {type.description} <DocLink to="connections-and-sign-in" />
            </>
          )
        }
        actions={may ? <DeleteConnection of={one} /> : undefined}
      />
      <div className={classes.columns}>
        <div>
          {types.error && !types.data && <ErrorNote error={types.error} onRetry={() => void types.refetch()} />}
          {types.isPending && <Skeleton h={320} radius="md" />}
          {type && <ConnectionForm of={one} type={type} readOnly={!may} />}
        </div>
        <ConnectionSide of={one} />
      </div>
    </>
  )
}
