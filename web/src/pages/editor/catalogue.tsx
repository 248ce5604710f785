import { CloseButton, Kbd, ScrollArea, Text, TextInput, UnstyledButton } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { type KeyboardEvent, type Ref, useState } from 'react'
import { TypeIcon } from '../../graph/type-icon'
import classes from './catalogue.module.css'
import { findTypes } from './find-types'
import type { NodeType } from '../../graph/node-types'
import { catalogueText, editorText } from '../../text/editor'

/** The MIME type of a dragged node type. */
export const DRAGGED = 'application/x-blueprintd-type'

const groups = {
  flow: catalogueText.flow,
  data: catalogueText.data,
  people: catalogueText.people,
  services: catalogueText.services,
  events: catalogueText.events,
}

type Props = {
  types: NodeType[]
  /** Called with the type chosen by a click or by Enter. */
  onAdd: (type: NodeType) => void
  search?: Ref<HTMLInputElement>
  /** Touch screens have no dragging. */
  draggable?: boolean
  autoFocus?: boolean
  /** Closes it; without it there is no button. */
  onClose?: () => void
  /** The node after which a new one is placed, in words. */
  where: string
}

/** All node types by group, for dragging onto the canvas or choosing. */
export function Catalogue({ types, onAdd, search, draggable = true, autoFocus, onClose, where }: Props) {
  const [text, setText] = useState('')
  const searching = text.trim() !== ''
  const found = findTypes(types, text, (type) => groups[type.category] ?? '')
  // Search results are one list, best first, because Enter adds the first.
  const shown: [string, NodeType[]][] = searching
    ? [[catalogueText.results, found]]
    : Object.entries(groups).map(([key, title]) => [title, found.filter((type) => type.category === key)])
  const first = (event: KeyboardEvent) => {
    const best = found[0]
    if (event.key !== 'Enter' || !best || !searching) return
    event.preventDefault()
    onAdd(best)
    setText('')
  }
  return (
    <div className={classes.catalogue}>
      <TextInput
        ref={search}
        data-autofocus={autoFocus || undefined}
        type="search"
        size="sm"
        aria-label={catalogueText.searchNodeTypes}
        placeholder={catalogueText.searchNodeTypes}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={first}
        leftSection={<IconSearch size={15} aria-hidden />}
        maxLength={100}
      />
      <div className={classes.row}>
        <Text size="xs" c="dimmed" className={classes.where}>
          {where}
        </Text>
        {onClose && <CloseButton size="sm" aria-label={editorText.closeNodeTypes} onClick={onClose} />}
      </div>
      <ScrollArea className={classes.list} type="auto" offsetScrollbars="y" viewportProps={{ tabIndex: -1 }}>
        {shown.map(([title, members]) => {
          if (members.length === 0) return null
          return (
            <section key={title} aria-label={catalogueText.typesOf(title)}>
              <h2 className={classes.group}>{title}</h2>
              <ul className={classes.types}>
                {members.map((type, index) => (
                  <li key={type.type}>
                    <UnstyledButton
                      className={classes.type}
                      data-next={(searching && index === 0) || undefined}
                      onClick={() => onAdd(type)}
                      draggable={draggable}
                      title={type.description}
                      onDragStart={(event) => {
                        event.dataTransfer.setData(DRAGGED, type.type)
                        event.dataTransfer.effectAllowed = 'copy'
                      }}
                    >
                      <TypeIcon type={type.type} size={28} />
                      <span className={classes.name}>{type.title}</span>
                      {searching && index === 0 && draggable && (
                        <Kbd size="xs" className={classes.enter} aria-hidden>
                          {catalogueText.enter}
                        </Kbd>
                      )}
                    </UnstyledButton>
                  </li>
                ))}
              </ul>
            </section>
          )
        })}
        {found.length === 0 && (
          <Text size="sm" c="dimmed" p="sm">
            {catalogueText.noNodeTypeMatches(text)}
          </Text>
        )}
      </ScrollArea>
    </div>
  )
}
