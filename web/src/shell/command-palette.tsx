import { Kbd, Loader, Modal, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import {
  IconBook,
  IconBolt,
  IconBuilding,
  IconPlugConnected,
  IconPlus,
  IconSearch,
  IconSettings,
  IconSitemap,
  IconTimeline,
  type TablerIcon,
} from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useContext, useState } from 'react'
import { useLocation } from 'wouter'
import { api } from '../api/client'
import { useServerInfo } from '../api/server-info'
import { commonText } from '../text/common'
import { commandPaletteText } from '../text/shell'
import { MenusContext } from './menus'
import classes from './command-palette.module.css'

type Command = { key: string; title: string; note?: string | undefined; icon: TablerIcon; href: string }

/** The pages, which are found without the server. */
function usePages(): Command[] {
  const { navigation, settings } = useContext(MenusContext)
  const owner = useServerInfo().data?.mayOperate
  const runs: Command[] = [
    { key: 'waiting', title: commandPaletteText.waitingRuns, icon: IconTimeline, href: '/runs?status=paused' },
    { key: 'failed', title: commandPaletteText.failedRuns, icon: IconTimeline, href: '/runs?status=failed' },
  ]
  return [
    { key: 'new', title: commandPaletteText.newBlueprint, icon: IconPlus, href: '/blueprints/new' },
    { key: 'new-trigger', title: commandPaletteText.newTrigger, icon: IconPlus, href: '/triggers/new' },
    { key: 'new-connection', title: commandPaletteText.newConnection, icon: IconPlus, href: '/connections/new' },
    ...navigation
      .filter(({ path }) => path !== '/settings')
      .flatMap(({ path, title, icon = IconSitemap }) => [
        { key: path.slice(1), title, icon, href: path },
        ...(path === '/runs' ? runs : []),
      ]),
    ...settings
      .filter(({ owners }) => owner || !owners)
      .map(({ path, title, elsewhere = title }) => ({
        key: path.slice('/settings/'.length),
        title: elsewhere,
        note: commonText.settings,
        icon: IconSettings,
        href: path,
      })),
    { key: 'docs', title: commandPaletteText.documentation, icon: IconBook, href: '/docs' },
  ]
}

/** Finds pages, blueprints, triggers, connections, organizations and runs by a few letters, and goes there. */
export default function CommandPalette({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal.Root
      opened={opened}
      onClose={onClose}
      padding={0}
      size="lg"
      yOffset="12vh"
      transitionProps={{ duration: 0 }}
    >
      <Modal.Overlay />
      <Modal.Content aria-label={commandPaletteText.goTo}>
        <Modal.Body>
          <Finder onClose={onClose} />
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  )
}

function Finder({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const [, navigate] = useLocation()
  const wanted = text.trim()
  const pages = usePages()
  const found = useFound(wanted)
  const named = useNamed(wanted)
  const list = [...pages.filter(({ title }) => wanted === '' || hasWords(title, wanted)), ...found.list, ...named]
  const current = Math.min(chosen, list.length - 1)
  const go = (command: Command) => {
    onClose()
    if (command.href.startsWith('/docs')) location.assign(command.href)
    else navigate(command.href)
  }
  const onKeyDown = (event: React.KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step && list.length > 0) setChosen((current + step + list.length) % list.length)
    else if (event.key === 'Enter' && list[current]) go(list[current])
    else return
    event.preventDefault()
  }
  return (
    <div>
      <TextInput
        data-autofocus
        size="md"
        variant="unstyled"
        classNames={{ input: classes.input, wrapper: classes.field }}
        leftSection={found.loading ? <Loader size={16} /> : <IconSearch size={18} aria-hidden />}
        placeholder={commandPaletteText.pageBlueprintTriggerConnectionOrRun}
        aria-label={commandPaletteText.pageBlueprintTriggerConnectionOrRun}
        role="combobox"
        aria-expanded
        aria-controls="commands"
        aria-activedescendant={list[current] && `command-${list[current].key}`}
        autoComplete="off"
        spellCheck={false}
        maxLength={200}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value)
          setChosen(0)
        }}
        onKeyDown={onKeyDown}
      />
      <ul className={classes.list} id="commands" role="listbox" aria-label={commandPaletteText.results}>
        {list.map((command, i) => (
          <li
            key={command.key}
            id={`command-${command.key}`}
            role="option"
            aria-selected={i === current}
            className={classes.command}
            ref={i === current ? (item) => item?.scrollIntoView({ block: 'nearest' }) : undefined}
            onClick={() => go(command)}
            onMouseMove={() => setChosen(i)}
          >
            <command.icon size={18} stroke={1.7} aria-hidden />
            <span className={classes.title}>{command.title}</span>
            {command.note && (
              <Text span size="sm" c="dimmed" truncate>
                {command.note}
              </Text>
            )}
          </li>
        ))}
      </ul>
      <Text size="sm" c="dimmed" className={classes.foot} role="status">
        {list.length === 0 && !found.loading ? (
          commandPaletteText.nothingFound
        ) : (
          <span className={classes.keys} aria-hidden>
            <Kbd size="xs">↑</Kbd> <Kbd size="xs">↓</Kbd> {commandPaletteText.choose} <Kbd size="xs">↵</Kbd>{' '}
            {commandPaletteText.open}
          </span>
        )}
      </Text>
    </div>
  )
}

/** What the server finds for a text: blueprints and triggers, and the run with this ID. */
function useFound(wanted: string): { list: Command[]; loading: boolean } {
  const [search] = useDebouncedValue(wanted, 150)
  const answer = useQuery({
    queryKey: ['commands', search],
    queryFn: async () => {
      const [blueprints, triggers] = await Promise.all([
        api.blueprint.listSummaries.query({ search, limit: 6, sort: 'updated' }),
        api.blueprintTriggers.listAll.query({ search, limit: 4 }),
      ])
      return [
        ...blueprints.data.map(({ id, title }) => ({
          key: id,
          title,
          note: commonText.blueprint,
          icon: IconSitemap,
          href: `/blueprints/${id}/edit`,
        })),
        ...triggers.data.map(({ id, trigger_type: type, config: { label }, blueprint_title: blueprint }) => ({
          key: id,
          title: typeof label === 'string' && label !== '' ? label : blueprint,
          note: commandPaletteText.triggerOf(type),
          icon: IconBolt,
          href: `/triggers/${id}`,
        })),
      ]
    },
    placeholderData: keepPreviousData,
    enabled: search !== '' && !isRun(search),
    staleTime: 10_000,
  })
  if (isRun(wanted))
    return {
      list: [{ key: wanted, title: wanted, note: commonText.run, icon: IconTimeline, href: `/runs/${wanted}` }],
      loading: false,
    }
  return { list: wanted === '' ? [] : (answer.data ?? []), loading: answer.isFetching || search !== wanted }
}

/** The connections and organizations with a name. */
function useNamed(wanted: string): Command[] {
  const enabled = wanted !== '' && !isRun(wanted)
  const connections = useQuery({
    queryKey: ['connection', 'list'],
    queryFn: () => api.connection.list.query(),
    enabled,
    staleTime: 10_000,
  })
  const organizations = useQuery({
    queryKey: ['organizations'],
    queryFn: () => api.organization.list.query(),
    enabled,
    staleTime: 10_000,
  })
  if (!enabled) return []
  return [
    ...(connections.data ?? []).map(({ id, name }) => ({
      key: id,
      title: name,
      note: commonText.connection,
      icon: IconPlugConnected,
      href: `/connections/${id}`,
    })),
    ...(organizations.data ?? []).map(({ id, name }) => ({
      key: id,
      title: name,
      note: commonText.organization,
      icon: IconBuilding,
      href: `/settings/organizations/${id}`,
    })),
  ].filter(({ title }) => hasWords(title, wanted))
}

const isRun = (text: string) => /^exec_\w+$/.test(text)

/** Whether each word of a text begins a word of a title. */
function hasWords(title: string, text: string): boolean {
  const words = title.toLowerCase().split(/\s+/)
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((part) => words.some((word) => word.startsWith(part)))
}
