import { Anchor, Badge, Button, Group } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { api, type Inputs } from '../../api/client'
import type { Organization } from '../../api/session'
import { type Column, DataTable, ErrorNote, notifyDone } from '../../parts'
import { NameDialog } from './name-dialog'
import { roleTitle } from './roles'
import { SettingsFrame } from './settings-frame'
import { refreshOrganizations, useOrganizations } from './use-organizations'
import { organizationsPageText } from '../../text/settings'
import { commonText } from '../../text/common'

const columns: Column<Organization>[] = [
  {
    key: 'name',
    title: commonText.name,
    primary: true,
    render: (row) => (
      <Group gap={8}>
        <Anchor component={Link} href={`/settings/organizations/${row.id}`} inherit>
          {row.name}
        </Anchor>
        {row.personal && <Badge color="gray">{organizationsPageText.personalWorkspace}</Badge>}
      </Group>
    ),
  },
  { key: 'role', title: organizationsPageText.yourRole, render: (row) => roleTitle(row.role) },
]

/** The user's organizations. */
export default function OrganizationsPage() {
  const [creating, setCreating] = useState(false)
  const [, navigate] = useLocation()
  const list = useOrganizations()
  const create = useMutation({
    mutationFn: (input: Inputs['organization']['create']) => api.organization.create.mutate(input),
    onSuccess: async (made) => {
      setCreating(false)
      notifyDone(organizationsPageText.created(made.name))
      await refreshOrganizations()
      navigate(`/settings/organizations/${made.id}`)
    },
  })
  const begin = () => {
    create.reset()
    setCreating(true)
  }
  return (
    <SettingsFrame
      title={organizationsPageText.organizations}
      text={organizationsPageText.organizationsShareBlueprints}
      actions={
        <Button leftSection={<IconPlus size={17} aria-hidden />} onClick={begin}>
          {organizationsPageText.newOrganization}
        </Button>
      }
    >
      {list.error && !list.data ? (
        <ErrorNote error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <DataTable
          caption={organizationsPageText.yourOrganizations}
          columns={columns}
          rows={list.data}
          rowKey={(row) => row.id}
          skeletonRows={2}
        />
      )}
      <NameDialog
        opened={creating}
        onClose={() => setCreating(false)}
        title={organizationsPageText.newOrganization}
        action={organizationsPageText.create}
        description={organizationsPageText.youBecomeItsOwnerAndCan}
        pending={create.isPending}
        error={create.error}
        onName={(name) => create.mutate({ name })}
      />
    </SettingsFrame>
  )
}
