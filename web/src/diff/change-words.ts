import { showPath } from '../api/errors'
import type { ItemChange, VersionDiff } from './diff'
import { isEmpty } from './diff'
import { changeWordsText } from '../text/diff'
import { commonText } from '../text/common'

/** The changes between two versions, a short sentence for each kind. */
export function changeWords(diff: VersionDiff): string[] {
  const words = [
    ...items(diff.nodes, changeWordsText.nodes),
    ...items(diff.variables, changeWordsText.variables, changeWordsText.variable),
  ]
  if (diff.wiring === 'to edges') words.push(changeWordsText.connectedTheNodesWithEdges)
  else if (diff.wiring === 'to order') words.push(changeWordsText.removedAllEdgesNodesRunIn)
  else if (diff.edges.length > 0) words.push(edges(diff.edges))
  if (diff.reordered) words.push(changeWordsText.changedTheNodeOrder)
  if (diff.other.length > 0)
    words.push(
      changeWordsText.changed(
        list(
          diff.other.map(({ path }) => showPath(path)),
          3,
        ),
      ),
    )
  if (isEmpty(diff))
    words.push(diff.moved.length > 0 ? changeWordsText.movedNodesOnTheCanvas : changeWordsText.changedTitleStatusTagsOr)
  return words
}

/** The changed fields of a node or variable, for the head of its list: `url, method`. */
export function fieldWords(change: ItemChange): string {
  return list([...new Set(change.fields.map(({ path }) => showField(path)))], 3)
}

/** A field for display: `config.url` is `url`. */
export function showField(path: (string | number)[]): string {
  return showPath(path[0] === 'config' && path.length > 1 ? path.slice(1) : path)
}

function items(changes: ItemChange[], several: (n: number) => string, one = (title: string) => title): string[] {
  return (
    [
      ['added', commonText.added],
      ['removed', commonText.removed],
      ['changed', commonText.changed],
    ] as const
  ).flatMap(([kind, verb]) => {
    const some = changes.filter((change) => change.kind === kind)
    if (some.length === 0) return []
    const only = some[0]!
    if (some.length > 1)
      return [
        `${verb} ${several(some.length)}: ${list(
          some.map(({ title }) => `“${short(title)}”`),
          3,
        )}`,
      ]
    return [`${verb} ${one(`“${short(only.title)}”`)}${kind === 'changed' ? `: ${fieldWords(only)}` : ''}`]
  })
}

const edgeWords = {
  added: changeWordsText.edgesAdded,
  removed: changeWordsText.edgesRemoved,
  changed: changeWordsText.edgesChanged,
}

function edges(changes: ItemChange[]): string {
  const count = (kind: ItemChange['kind']) => changes.filter((change) => change.kind === kind).length
  const parts = (['added', 'removed', 'changed'] as const)
    .filter((kind) => count(kind) > 0)
    .map((kind) => edgeWords[kind](count(kind)))
  return changeWordsText.edges(parts.join(', '))
}

function list(words: string[], most: number): string {
  const rest = words.length - most
  return rest > 0 ? changeWordsText.andMore(words.slice(0, most).join(', '), rest) : words.join(', ')
}

function short(text: string): string {
  return text.length > 60 ? `${text.slice(0, 59)}…` : text
}
