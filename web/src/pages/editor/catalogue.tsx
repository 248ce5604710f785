import { ScrollArea, Text, TextInput, UnstyledButton } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { type KeyboardEvent, type Ref, useState } from 'react'
import { TypeIcon } from '../../graph/icons'
import classes from './catalogue.module.css'
import type { NodeType } from './use-node-types'

/** The kind of data that a dragged type travels as. */
export const DRAGGED = 'application/x-blueprintd-type'

const groups = { flow: 'Flow', data: 'Data', people: 'People', services: 'Services', events: 'Events' }

type Props = {
  types: NodeType[]
  /** Told the type that was chosen by a click or by Enter. */
  onAdd: (type: NodeType) => void
  search?: Ref<HTMLInputElement>
  /** On touch screens nothing is dragged. */
  draggable?: boolean
  /** After which node a new one will stand, in words. */
  where: string
}

/** All node types by group, to be dragged onto the canvas or chosen. */
export function Catalogue({ types, onAdd, search, draggable = true, where }: Props) {
  const [text, setText] = useState('')
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const found = types.filter((type) => words.every((word) => `${type.title} ${type.type} ${type.description} ${groups[type.category] ?? ''}`.toLowerCase().includes(word)))
  const first = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !found[0] || text === '') return
    event.preventDefault()
    onAdd(found[0])
    setText('')
  }
  return (
    <div className={classes.catalogue}>
      <TextInput
        ref={search} type="search" size="sm" aria-label="Search node types" placeholder="Add a node" value={text} onChange={(event) => setText(event.currentTarget.value)} onKeyDown={first}
        leftSection={<IconSearch size={15} aria-hidden />} maxLength={100}
      />
      <Text size="xs" c="dimmed" className={classes.where}>{where}</Text>
      <ScrollArea className={classes.list} type="auto" offsetScrollbars="y" viewportProps={{ tabIndex: -1 }}>
        {Object.entries(groups).map(([key, title]) => {
          const members = found.filter((type) => type.category === key)
          if (members.length === 0) return null
          return (
            <section key={key} aria-label={title}>
              <h2 className={classes.group}>{title}</h2>
              <ul className={classes.types}>
                {members.map((type) => (
                  <li key={type.type}>
                    <UnstyledButton
                      className={classes.type} onClick={() => onAdd(type)} draggable={draggable} title={type.description}
                      onDragStart={(event) => { event.dataTransfer.setData(DRAGGED, type.type); event.dataTransfer.effectAllowed = 'copy' }}
                    >
                      <TypeIcon type={type.type} category={type.category} size={28} />
                      <span className={classes.name}>{type.title}</span>
                    </UnstyledButton>
                  </li>
                ))}
              </ul>
            </section>
          )
        })}
        {found.length === 0 && <Text size="sm" c="dimmed" p="sm">No type fits "{text}".</Text>}
      </ScrollArea>
    </div>
  )
}
