import { Button, Skeleton, Text } from '@mantine/core'
import {
  IconBolt,
  IconEye,
  IconHistory,
  IconInfoCircle,
  IconPencil,
  IconPlayerPlay,
  IconShare,
  IconTimeline,
} from '@tabler/icons-react'
import { createContext, type ReactNode, useEffect, useRef, useState } from 'react'
import { useLocation, useParams } from 'wouter'
import { PageHeader, StatusBadge, Unopened, UrlTabs } from '../../parts'
import { BlueprintMenu } from './blueprint-menu'
import classes from './blueprint-layout.module.css'
import { DraftBanner } from './draft-banner'
import { FavoriteButton } from './favorite-button'
import { LazyRunDialog } from '../runs/lazy-run-dialog'
import { TitleEditor } from './title-editor'
import { type Blueprint, useBlueprint } from '../../api/use-blueprint'
import { blueprintLayoutText } from '../../text/blueprints'
import { commonText } from '../../text/common'

type Props = {
  /** The id of the blueprint; by default the one in the address. */
  id?: string
  /**
   * For the editor: everything in one row in place of the app's header, with a place for its toolbar, and without a Run
   * button, because the editor's own saves first.
   */
  ownRun?: boolean
  /** Shown while the blueprint is loading. */
  waiting?: ReactNode
  /** The name of the tab, for the document's title: `Versions`. */
  tab?: string
  /** The page of the tab; a function receives the loaded blueprint. */
  children: ReactNode | ((blueprint: Blueprint) => ReactNode)
}

/** The header and tabs of all pages of a blueprint, and below the page of one tab. */
export function BlueprintLayout({ id: given, ownRun = false, waiting = <Skeleton h={320} />, tab, children }: Props) {
  const params = useParams<{ id?: string }>()
  const id = given ?? params.id ?? ''
  const { data: blueprint, error, refetch } = useBlueprint(id)
  const [editing, setEditing] = useState(false)
  const [running, setRunning] = useState(false)
  const pencil = useRef<HTMLButtonElement>(null)
  const [slot, setSlot] = useState<HTMLElement | null>(null)
  const crumbs = ownRun ? [] : [{ title: commonText.blueprints, href: '/blueprints' }]
  if (!blueprint && error) {
    return (
      <div className={ownRun ? classes.failed : undefined}>
        <PageHeader
          title={commonText.blueprint}
          breadcrumbs={[{ title: commonText.blueprints, href: '/blueprints' }]}
        />
        <Unopened
          error={error}
          title={blueprintLayoutText.couldNotOpenTheBlueprint}
          missing={blueprintLayoutText.blueprintNotFound}
          list={{ href: '/blueprints', title: blueprintLayoutText.allBlueprints }}
          onRetry={() => void refetch()}
        />
      </div>
    )
  }
  if (!blueprint) {
    // At the place of the header below, so that its heading keeps the focus.
    const header = (
      <>
        <PageHeader
          title={commonText.blueprint}
          compact={ownRun}
          breadcrumbs={crumbs}
          actions={<Skeleton h={36} w={ownRun ? 78 : 180} />}
        />
        {!ownRun && <Skeleton h={41} mb={18} />}
      </>
    )
    return (
      <>
        {ownRun ? (
          <div className={classes.bar}>
            {header}
            <div className={classes.slot} />
          </div>
        ) : (
          header
        )}
        {waiting}
      </>
    )
  }
  const endEditing = () => {
    setEditing(false)
    setTimeout(() => pencil.current?.focus())
  }
  const header = (
    <>
      <PageHeader
        title={blueprint.title}
        compact={ownRun}
        documentTitle={tab ? `${blueprint.title}, ${tab.toLowerCase()}` : undefined}
        breadcrumbs={crumbs}
        instead={editing ? <TitleEditor blueprint={blueprint} onDone={endEditing} /> : undefined}
        badge={
          <>
            {blueprint.can_manage && !editing && (
              <button
                ref={pencil}
                type="button"
                className={classes.pencil}
                aria-label={blueprintLayoutText.renameBlueprint}
                onClick={() => setEditing(true)}
              >
                <IconPencil size={16} aria-hidden />
              </button>
            )}
            <StatusBadge status={blueprint.status} />
            <Text
              size="xs"
              c="dimmed"
              component="span"
              title={commonText.version}
              className={ownRun ? classes.version : undefined}
              visibleFrom="sm"
            >
              {blueprintLayoutText.v(blueprint.version)}
            </Text>
          </>
        }
        actions={
          <>
            <FavoriteButton id={id} title={blueprint.title} on={blueprint.is_favorited} />
            {!ownRun && (
              <Button leftSection={<IconPlayerPlay size={17} aria-hidden />} onClick={() => setRunning(true)}>
                {commonText.run}
              </Button>
            )}
            <BlueprintMenu blueprint={blueprint} quiet={ownRun} />
          </>
        }
      />
      <BlueprintTabs blueprint={blueprint} />
    </>
  )
  return (
    <>
      {ownRun ? (
        <div className={classes.bar}>
          {header}
          <div ref={setSlot} className={classes.slot} />
        </div>
      ) : (
        header
      )}
      <EditorBarContext value={slot}>
        <DraftBanner blueprint={blueprint} />
        {typeof children === 'function' ? children(blueprint) : children}
      </EditorBarContext>
      <LazyRunDialog blueprintId={running ? id : undefined} onClose={() => setRunning(false)} />
    </>
  )
}

/** The place for the editor's toolbar, once it is there. */
export const EditorBarContext = createContext<HTMLElement | null>(null)

function BlueprintTabs({ blueprint }: { blueprint: Blueprint }) {
  const [path] = useLocation()
  const frame = useRef<HTMLDivElement>(null)
  // Between the editor and other tabs the whole page is replaced, so the focus moves to the new copy of the pressed
  // tab.
  useEffect(() => {
    if (document.activeElement === document.body && (history.state as { keepFocus?: boolean } | null)?.keepFocus)
      frame.current?.querySelector<HTMLElement>('[aria-current]')?.focus({ preventScroll: true })
    frame.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [path])
  const base = `/blueprints/${blueprint.id}`
  const icon = { size: 16, 'aria-hidden': true } as const
  const tabs = [
    blueprint.can_manage
      ? { href: `${base}/edit`, title: commonText.edit, icon: <IconPencil {...icon} /> }
      : { href: `${base}/edit`, title: blueprintLayoutText.view, icon: <IconEye {...icon} /> },
    { href: `${base}/runs`, title: commonText.runs, icon: <IconTimeline {...icon} /> },
    { href: `${base}/triggers`, title: commonText.triggers, icon: <IconBolt {...icon} /> },
    ...(blueprint.can_manage
      ? [{ href: `${base}/versions`, title: commonText.versions, icon: <IconHistory {...icon} /> }]
      : []),
    blueprint.can_manage
      ? { href: `${base}/share`, title: blueprintLayoutText.share, icon: <IconShare {...icon} /> }
      : { href: `${base}/share`, title: blueprintLayoutText.about, icon: <IconInfoCircle {...icon} /> },
  ]
  return (
    <div ref={frame}>
      <UrlTabs tabs={tabs} label={blueprintLayoutText.blueprintPages} />
    </div>
  )
}
