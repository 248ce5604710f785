import { Button, Stack, Text } from '@mantine/core'
import { IconLink } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { api } from '../../api/client'
import { ErrorNote, Time, notifyDone } from '../../parts'
import { CopyField } from '../../parts/copy-field'
import { approvalLinkText } from '../../text/runs'
import type { Awaiting, Run } from './types'

/** Copies an address at which a person without an account answers an open question, once. */
export function ApprovalLink({ run, asked }: { run: Run; asked: Awaiting }) {
  const link = useMutation({
    mutationFn: () => api.execution.link.mutate({ executionId: run.id, nodeId: asked.nodeId }),
    // Where the browser refuses the clipboard, the field below has the link.
    onSuccess: ({ url }) =>
      navigator.clipboard?.writeText(url).then(
        () => notifyDone(approvalLinkText.copied),
        () => undefined,
      ),
  })
  return (
    <Stack gap="xs" mt="md">
      {link.data ? (
        <>
          <CopyField label={approvalLinkText.link} value={link.data.url} />
          <Text size="sm" c="dimmed">
            {approvalLinkText.worksOnce}
            {link.data.expiresAt && (
              <>
                {' '}
                {approvalLinkText.expires} <Time at={link.data.expiresAt} absolute />
              </>
            )}
          </Text>
        </>
      ) : (
        <Button
          variant="subtle"
          color="gray"
          size="compact-sm"
          style={{ alignSelf: 'flex-start' }}
          leftSection={<IconLink size={15} aria-hidden />}
          loading={link.isPending}
          onClick={() => link.mutate()}
        >
          {approvalLinkText.copyApprovalLink}
        </Button>
      )}
      {link.isError && <ErrorNote error={link.error} title={approvalLinkText.couldNotCreateTheLink} />}
    </Stack>
  )
}
