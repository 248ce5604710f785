import { ActionIcon, Menu, Modal, Skeleton, Text } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { IconArrowsDiff, IconDots, IconDownload, IconTestPipe } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { Link } from 'wouter'
import { api } from '../../api/client'
import { show } from '../../api/json'
import { notifyDone, notifyError } from '../../parts'
import { download } from '../../parts/download'
import { fileStem } from '../../parts/file-stem'
import { later } from '../../parts/later'
import { giveBack } from '../../parts/opener'
import { isOver, type Run } from './types'
import type { RunFacts } from './use-run-facts'
import { runMenuText } from '../../text/runs'

const SaveTest = later(
  async () => ({ default: (await import('./run-more')).SaveTest }),
  () => <Skeleton h={270} />,
).Component

/** Exports of a run: as a test, or whole as a file. */
export function RunMenu({ run, facts }: { run: Run; facts: RunFacts }) {
  const [saving, setSaving] = useState(false)
  const opener = useRef<HTMLButtonElement>(null)
  const narrow = useMediaQuery('(max-width: 47.99em)', false, { getInitialValueInEffect: false })
  const close = () => {
    setSaving(false)
    giveBack(opener.current)
  }
  const name = `${fileStem(facts.listed?.blueprintTitle ?? '')}.run.json`
  const save = useMutation({
    mutationFn: () => api.execution.export.query({ executionId: run.id }),
    onSuccess: (file) => {
      download(name, `${show(file)}\n`)
      notifyDone(runMenuText.exportedViewItWithBlueprintd(name))
    },
    onError: notifyError,
  })
  const reason = facts.blueprint?.can_manage ? undefined : runMenuText.testAndExportContainTheWhole
  const early = !isOver(run.status)
  return (
    <>
      <Menu position="bottom-end" width={300} withinPortal>
        <Menu.Target>
          <ActionIcon
            ref={opener}
            variant="default"
            size={36}
            aria-label={runMenuText.moreActions}
            loading={save.isPending}
          >
            <IconDots size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            leftSection={<IconArrowsDiff size={16} aria-hidden />}
            component={Link}
            href={`/runs/${run.id}/compare`}
          >
            {runMenuText.compareWithAnotherRun}
          </Menu.Item>
          <Menu.Item
            leftSection={<IconTestPipe size={16} aria-hidden />}
            disabled={reason !== undefined || early}
            aria-describedby={reason ? 'run-menu-reason' : undefined}
            onClick={() => setSaving(true)}
          >
            {runMenuText.saveAsTest}
            <Text size="xs" component="span" display="block">
              {early ? runMenuText.availableWhenTheRunHasEnded : runMenuText.forBlueprintdTest}
            </Text>
          </Menu.Item>
          <Menu.Item
            leftSection={<IconDownload size={16} aria-hidden />}
            disabled={reason !== undefined}
            aria-describedby={reason ? 'run-menu-reason' : undefined}
            onClick={() => save.mutate()}
          >
            {runMenuText.exportRun}
            <Text size="xs" component="span" display="block">
              {runMenuText.viewItWithBlueprintdOpenFile}
            </Text>
          </Menu.Item>
          {reason && (
            <Text size="xs" p="6px 12px" id="run-menu-reason">
              {reason}
            </Text>
          )}
        </Menu.Dropdown>
      </Menu>
      <Modal
        opened={saving}
        onClose={close}
        title={runMenuText.saveAsTest}
        size="xl"
        fullScreen={narrow}
        returnFocus={false}
      >
        <SaveTest id={run.id} onClose={close} />
      </Modal>
    </>
  )
}
