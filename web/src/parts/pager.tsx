import { ActionIcon, Group, Text } from '@mantine/core'
import { IconChevronLeft, IconChevronRight, IconChevronsLeft, IconChevronsRight } from '@tabler/icons-react'
import { showCount } from './time-words'
import { pagerText } from '../text/parts'

type Props = {
  /** From 1. */
  page: number
  pages: number
  onPage: (page: number) => void
  /** The total number, shown left with its noun. */
  total?: number
  /** `run`; the plural adds an s. */
  noun?: string
  /** A label for screen readers: `Pages of runs`. */
  label?: string
}

/** Links to the pages of a list. With one page only the total is shown. */
export function Pager({ page, pages, onPage, total, noun = 'entry', label = pagerText.pages }: Props) {
  const steps = [
    { name: pagerText.firstPage, icon: IconChevronsLeft, to: 1, off: page <= 1 },
    { name: pagerText.previousPage, icon: IconChevronLeft, to: page - 1, off: page <= 1 },
    { name: pagerText.nextPage, icon: IconChevronRight, to: page + 1, off: page >= pages },
    { name: pagerText.lastPage, icon: IconChevronsRight, to: pages, off: page >= pages },
  ]
  const button = ({ name, icon: Icon, to, off }: (typeof steps)[number]) => (
    // Not `disabled`: a button that is disabled while focused loses the focus.
    <ActionIcon
      key={name}
      variant="default"
      aria-label={name}
      aria-disabled={off || undefined}
      data-disabled={off || undefined}
      onClick={() => !off && onPage(to)}
    >
      <Icon size={17} aria-hidden />
    </ActionIcon>
  )
  return (
    <Group component="nav" aria-label={label} justify="space-between" gap="xs" mt="sm" mih={36}>
      <Text size="sm" c="dimmed">
        {total !== undefined && showCount(total, noun, noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : undefined)}
      </Text>
      {pages > 1 && (
        <Group gap={6} wrap="nowrap">
          {steps.slice(0, 2).map(button)}
          <Text size="sm" px={6} aria-live="polite">
            {pagerText.pageOf(page, pages)}
          </Text>
          {steps.slice(2).map(button)}
        </Group>
      )}
    </Group>
  )
}
