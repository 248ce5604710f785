import { Anchor, Button, Group, Skeleton, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { IconExternalLink, IconPlugConnected } from '@tabler/icons-react'
import { useCallback, useEffect } from 'react'
import { Link, useSearchParams } from 'wouter'
import { api } from '../../api/client'
import { useSignedIn } from '../../api/session'
import { CopyField, ErrorNote, KeyValue, SafeLink, Time } from '../../parts'
import { Section } from '../settings/section'
import { Callback } from './callback'
import classes from './connections.module.css'
import { ownerOf } from './owner'
import { TestResult } from './test-result'
import type { Connection } from './types'
import { useUses } from './use-uses'
import { hrefOf } from './uses'
import { useSignInTab } from './use-sign-in-tab'
import { connectionSideText } from '../../text/connections'
import { commonText } from '../../text/common'

/** The actions and details of a connection. */
export function ConnectionSide({ of }: { of: Connection }) {
  const session = useSignedIn()
  const people = of.type === 'oauth2' && of.config.flow === 'authorization_code'
  return (
    <div className={classes.side}>
      <Section title={people ? connectionSideText.signInAndTest : commonText.test} boxed>
        <Try key={of.updatedAt} of={of} people={people} />
      </Section>
      <Section title={connectionSideText.usedBy} boxed>
        <Users of={of} />
      </Section>
      <Section title={connectionSideText.about} boxed>
        <Stack gap="sm">
          <KeyValue
            pairs={[
              [connectionSideText.availableTo, ownerOf(of, session)],
              [
                connectionSideText.createdBy,
                of.createdBy === session.user.id ? commonText.you : connectionSideText.anotherMember,
              ],
              [commonText.created, <Time key="made" at={of.createdAt} />],
              [commonText.updated, <Time key="changed" at={of.updatedAt} />],
            ]}
          />
          <CopyField label={connectionSideText.id} value={of.id} />
          {people && <Callback />}
        </Stack>
      </Section>
    </div>
  )
}

function Try({ of, people }: { of: Connection; people: boolean }) {
  const [params, setParams] = useSearchParams()
  const test = useMutation({ mutationFn: () => api.connection.test.mutate({ id: of.id }) })
  const { mutate, isPending } = test
  const again = useCallback(() => mutate(), [mutate])
  const signIn = useSignInTab(of.id, again)
  const made = params.get('made') !== null
  // Test it right after it was created.
  useEffect(() => {
    if (!made) return
    setParams(
      (before) => {
        before.delete('made')
        return before
      },
      { replace: true },
    )
    if (!people) mutate()
  }, [made, people, mutate, setParams])
  const { waiting, done } = signIn
  const works = test.data?.ok === true
  useEffect(() => {
    if (waiting && works) done()
  }, [waiting, works, done])
  return (
    <Stack gap="sm">
      {people && <Text size="sm">{connectionSideText.everyUserSignsInSeparatelyA}</Text>}
      <Group gap="xs">
        {people && (
          <Button
            leftSection={<IconExternalLink size={17} aria-hidden />}
            onClick={signIn.begin}
            loading={signIn.isPending}
          >
            {connectionSideText.signIn}
          </Button>
        )}
        <Button
          variant={people ? 'default' : 'filled'}
          leftSection={<IconPlugConnected size={17} aria-hidden />}
          onClick={again}
          loading={isPending}
        >
          {people ? connectionSideText.checkSignIn : connectionSideText.testConnection}
        </Button>
      </Group>
      <ErrorNote error={signIn.error} />
      {signIn.refused && (
        <Text size="sm">
          {connectionSideText.yourBrowserOpenedNoTab}{' '}
          <SafeLink href={signIn.refused}>{connectionSideText.openTheSignInPage}</SafeLink>
        </Text>
      )}
      <div role="status" className={classes.result}>
        {signIn.waiting && (
          <Text size="sm" mb="xs">
            {connectionSideText.finishSigningInInTheOther}
          </Text>
        )}
        {test.data && !isPending && <TestResult of={test.data} />}
        {!test.data && !isPending && !test.error && !signIn.waiting && (
          <Text size="sm" c="dimmed">
            {people
              ? connectionSideText.asksTheServiceWhetherYourSign
              : connectionSideText.makesTheCheapestRealCallWith}
          </Text>
        )}
      </div>
      <ErrorNote error={test.error} />
    </Stack>
  )
}

function Users({ of }: { of: Connection }) {
  const uses = useUses()
  if (uses.isPending) return <Skeleton h={24} />
  if (!uses.data) return <ErrorNote error={uses.error} onRetry={() => void uses.refetch()} />
  const users = uses.data.users.get(of.id) ?? []
  return (
    <Stack gap={6}>
      {users.length === 0 && (
        <Text size="sm" c="dimmed">
          {connectionSideText.noBlueprintThatYouCanSee}
        </Text>
      )}
      {users.length > 0 && (
        <ul className={classes.users}>
          {users.slice(0, 20).map((user) => (
            <li key={`${user.kind} ${user.id}`}>
              <Anchor component={Link} href={hrefOf(user)} inherit>
                {user.title}
              </Anchor>{' '}
              <Text span size="xs" c="dimmed">
                {user.kind}
              </Text>
            </li>
          ))}
        </ul>
      )}
      {users.length > 20 && (
        <Text size="sm" c="dimmed">
          {connectionSideText.andMore(users.length - 20)}
        </Text>
      )}
      {!uses.data.whole && (
        <Text size="xs" c="dimmed">
          {connectionSideText.checkedOnlyTheNewest400}
        </Text>
      )}
    </Stack>
  )
}
