import { Alert, Text } from '@mantine/core'
import { IconShieldQuestion } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import { api, type Outputs } from '../../api/client'
import { queryClient } from '../../api/query-client'
import { notifyDone, notifyError } from '../../parts'
import { GrantNote, showAuthor } from './grant-note'
import { useAuthority } from './use-authority'
import { failedGrantsText } from '../../text/authority'

type Run = Outputs['execution']['getExecutionStatus']
type Request = NonNullable<NonNullable<Run['steps'][number]['error']>['grant']>

const resources = new Map(
  Object.entries<string>({
    connection: failedGrantsText.theConnection,
    blueprint: failedGrantsText.theBlueprint,
    secret: failedGrantsText.theSecretVariable,
    file: failedGrantsText.theFile,
    'sign-in': failedGrantsText.yourSignInAt,
  }),
)

/** The grants that a failed run lacked, without duplicates. */
export function grantsOf(run: Run): Request[] {
  const found = new Map<string, Request>()
  for (const { error } of run.steps) {
    if (error?.code === 'needs_grant' && error.grant)
      found.set(`${error.grant.blueprintId} ${error.grant.version ?? ''}`, error.grant)
  }
  return [...found.values()]
}

/** Offers the grants that a failed run lacked, and a retry with them. */
export function FailedGrants({ run, mine }: { run: Run; /** The run acted for the signed-in user. */ mine: boolean }) {
  const requests = grantsOf(run)
  const [, navigate] = useLocation()
  const retry = useMutation({
    mutationFn: () => api.execution.retry.mutate({ executionId: run.id }),
    onSuccess: ({ executionId }) => {
      void queryClient.invalidateQueries({ queryKey: ['runs'] })
      notifyDone(failedGrantsText.retryStarted)
      navigate(`/runs/${executionId}`)
    },
    onError: notifyError,
  })
  const [request] = requests
  if (!request) return null
  if (!mine || request.version === undefined) {
    return (
      <Alert
        color="amber"
        icon={<IconShieldQuestion size={20} aria-hidden />}
        title={failedGrantsText.grantNeeded}
        mb="md"
      >
        <Text size="sm">
          {mine
            ? failedGrantsText.wroteTheNodesOfThisRun(showAuthor(request.author))
            : failedGrantsText.thisRunActsForAnotherUser}
        </Text>
      </Alert>
    )
  }
  return (
    <One
      key={`${request.blueprintId} ${request.version}`}
      request={request}
      version={request.version}
      more={requests.length > 1}
      busy={retry.isPending}
      onRetry={() => retry.mutate()}
    />
  )
}

function One({
  request,
  version,
  more,
  busy,
  onRetry,
}: {
  request: Request
  version: string
  more: boolean
  busy: boolean
  onRetry: () => void
}) {
  const authority = useAuthority(request.blueprintId).data
  const { kind, name, id } = request.resource
  return (
    <GrantNote
      blueprintId={request.blueprintId}
      version={version}
      author={request.author}
      basis={authority?.basis}
      busy={busy}
      action={failedGrantsText.grantVersionAndRetry(version)}
      onGranted={onRetry}
    >
      {failedGrantsText.theRunStoppedBeforeUsing(resources.get(kind) ?? kind, name ?? id)}
      {more && failedGrantsText.anotherVersionNeedsAGrantToo}
    </GrantNote>
  )
}
