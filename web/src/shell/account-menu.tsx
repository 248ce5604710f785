import { Avatar, Menu, Text, UnstyledButton } from '@mantine/core'
import { IconBook, IconKey, IconLogout, IconUser } from '@tabler/icons-react'
import { Link } from 'wouter'
import { useSignedIn, useSignOut } from '../api/session'
import { notifyError } from '../parts/notify'
import { docLinkText } from '../text/parts'
import { accountMenuText } from '../text/shell'

/** The signed-in user, with links to the settings and a sign-out. */
export function AccountMenu() {
  const { user } = useSignedIn()
  const signOut = useSignOut()
  const name = user.name || user.email
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <UnstyledButton aria-label={accountMenuText.accountOf(initials(name), name)} p={4} bdrs="xl">
          <Avatar size={30} radius="xl" color="petrol" aria-hidden>
            {initials(name)}
          </Avatar>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <div style={{ padding: '6px 12px 8px' }}>
          <Text size="sm" fw={600} truncate>
            {name}
          </Text>
          <Text size="xs" c="dimmed" truncate>
            {user.email}
          </Text>
        </div>
        <Menu.Divider />
        <Menu.Item component={Link} href="/settings/profile" leftSection={<IconUser size={16} aria-hidden />}>
          {accountMenuText.profile}
        </Menu.Item>
        <Menu.Item component={Link} href="/settings/keys" leftSection={<IconKey size={16} aria-hidden />}>
          {accountMenuText.apiKeys}
        </Menu.Item>
        <Menu.Item component="a" href="/docs" target="_blank" leftSection={<IconBook size={16} aria-hidden />}>
          {docLinkText.documentation}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item
          leftSection={<IconLogout size={16} aria-hidden />}
          onClick={() => signOut.mutate(undefined, { onError: notifyError })}
        >
          {accountMenuText.signOut}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

function initials(name: string): string {
  const words = name.split(/[\s@._-]+/).filter(Boolean)
  return words
    .slice(0, 2)
    .map((word) => [...word][0]!.toUpperCase())
    .join('')
}
