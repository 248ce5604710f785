import type { NodeType } from '../../graph/node-types'

type Named = Pick<NodeType, 'type' | 'title' | 'description'>

/**
 * The types that match all words, best first: by name, then by words in the name, then by words in the description.
 * `group` returns the name of a type's group. Without words, all in their order.
 */
export function findTypes<Type extends Named>(
  types: readonly Type[],
  text: string,
  group: (type: Type) => string,
): Type[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const ranked = types.flatMap((type) => {
    const name = `${type.title} ${type.type}`.toLowerCase()
    const all = `${name} ${group(type)} ${type.description}`.toLowerCase()
    if (!words.every((word) => all.includes(word))) return []
    const parts = name.split(/[\s-]+/)
    const rank = (word: string) =>
      parts[0] === word || type.type === word
        ? 0
        : parts.some((part) => part.startsWith(word))
          ? 1
          : name.includes(word)
            ? 2
            : 3
    return [{ type, rank: words.reduce((sum, word) => sum + rank(word), 0) }]
  })
  return ranked.sort((a, b) => a.rank - b.rank).map(({ type }) => type)
}
