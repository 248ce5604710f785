import { Alert, Badge, Box, Button, List, Skeleton } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { IconHistory, IconInfoCircle, IconPencil } from '@tabler/icons-react'
import { useState } from 'react'
import { Link, useParams } from 'wouter'
import { api, type Inputs } from '../../api/client'
import type { Organization } from '../../api/session'
import { CopyField, EmptyState, ErrorNote, notifyDone } from '../../parts'
import { AddMember } from './add-member'
import { MembersTable } from './members-table'
import { NameDialog } from './name-dialog'
import { manages, roles, roleTitle } from './roles'
import { Section } from './section'
import { SettingsFrame } from './settings-frame'
import { refreshOrganizations, useOrganizations } from './use-organizations'
import { organizationPageText } from '../../text/settings'
import { commonText } from '../../text/common'

const crumbs = [{ title: organizationPageText.organizations, href: '/settings/organizations' }]

/** One organization: its members and their roles. */
export default function OrganizationPage() {
  const { id } = useParams<{ id: string }>()
  const list = useOrganizations()
  const one = list.data?.find((organization) => organization.id === id)
  if (one) return <Found key={one.id} of={one} />
  return (
    <SettingsFrame title={commonText.organization} breadcrumbs={crumbs}>
      {list.isPending && <Skeleton h={220} />}
      {list.error && <ErrorNote error={list.error} onRetry={() => void list.refetch()} />}
      {list.data && (
        <EmptyState
          title={organizationPageText.organizationNotFound}
          text={organizationPageText.youLeftItOrWereRemoved}
          action={
            <Button component={Link} href="/settings/organizations">
              {organizationPageText.yourOrganizations}
            </Button>
          }
        />
      )}
    </SettingsFrame>
  )
}

function Found({ of }: { of: Organization }) {
  const [renaming, setRenaming] = useState(false)
  const rename = useMutation({
    mutationFn: (input: Inputs['organization']['update']) => api.organization.update.mutate(input),
    onSuccess: (saved) => {
      setRenaming(false)
      notifyDone(organizationPageText.renamedTo(saved.name))
      return refreshOrganizations()
    },
  })
  const begin = () => {
    rename.reset()
    setRenaming(true)
  }
  const actions = manages(of.role) && (
    <>
      <Button
        variant="default"
        component={Link}
        href={`/settings/audit?organization=${of.id}`}
        leftSection={<IconHistory size={17} aria-hidden />}
      >
        {organizationPageText.auditLog}
      </Button>
      <Button variant="default" leftSection={<IconPencil size={17} aria-hidden />} onClick={begin}>
        {commonText.rename}
      </Button>
    </>
  )
  return (
    <SettingsFrame
      title={of.name}
      badge={
        <Badge color="gray">
          {of.personal
            ? organizationPageText.personalWorkspace
            : organizationPageText.yourRole(roleTitle(of.role).toLowerCase())}
        </Badge>
      }
      breadcrumbs={crumbs}
      actions={actions || undefined}
    >
      {of.personal ? (
        <Alert
          color="blue"
          icon={<IconInfoCircle size={20} aria-hidden />}
          title={organizationPageText.onlyYouHaveAccess}
        >
          {organizationPageText.blueprintsThatYouCreateWithout}
        </Alert>
      ) : (
        <>
          <MembersTable of={of} />
          {manages(of.role) && (
            <Section title={organizationPageText.addAMember} boxed>
              <AddMember of={of} />
            </Section>
          )}
          <Section title={organizationPageText.rolePermissions} boxed>
            <List size="sm" spacing="xs" listStyleType="none" withPadding={false}>
              {roles.map(({ role, title, text }) => (
                <List.Item key={role}>
                  <b>
                    {title}
                    {role === of.role && organizationPageText.you}
                  </b>
                  <br />
                  {text}
                </List.Item>
              ))}
            </List>
          </Section>
        </>
      )}
      <Section title={organizationPageText.api}>
        <Box maw={480}>
          <CopyField label={organizationPageText.organizationId} value={of.id} />
        </Box>
      </Section>
      <NameDialog
        opened={renaming}
        onClose={() => setRenaming(false)}
        title={organizationPageText.rename(of.name)}
        action={commonText.rename}
        name={of.name}
        pending={rename.isPending}
        error={rename.error}
        onName={(name) => rename.mutate({ organizationId: of.id, name })}
      />
    </SettingsFrame>
  )
}
