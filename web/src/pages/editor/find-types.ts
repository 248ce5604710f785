import type { NodeType } from '../../graph/node-types'

type Named = Pick<NodeType, 'type' | 'title' | 'description'>

/** Names of the node types in other programs. */
export const alsoCalled = new Map(
  Object.entries<string>({
    conditional: 'if else branch filter',
    switch: 'case branch route router',
    'for-each': 'loop iterate items',
    merge: 'join combine',
    blueprint: 'subworkflow subflow call',
    wait: 'delay sleep pause',
    respond: 'return reply response',
    stop: 'end exit throw error',
    set: 'assign edit fields',
    template: 'text format',
    transform: 'expression map',
    code: 'javascript js function script',
    log: 'print debug',
    'approval-gate': 'approve confirm',
    human: 'form question ask input',
    'http-request': 'api rest fetch curl url',
    'ai-prompt': 'llm gpt openai anthropic claude chat',
    'send-email': 'mail smtp',
    'send-slack': 'message chat',
    'emit-event': 'publish',
  }),
)

/**
 * The types that match all words, best first: by name, then by what they are called elsewhere, by words in the name,
 * and by words in the description. `group` returns the name of a type's group. Without words, all in their order.
 */
export function findTypes<Type extends Named>(
  types: readonly Type[],
  text: string,
  group: (type: Type) => string,
): Type[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const ranked = types.flatMap((type) => {
    const name = `${type.title} ${type.type}`.toLowerCase()
    const others = (alsoCalled.get(type.type) ?? '').split(' ')
    const all = `${name} ${others.join(' ')} ${group(type)} ${type.description}`.toLowerCase()
    if (!words.every((word) => all.includes(word))) return []
    const parts = name.split(/[\s-]+/)
    const rank = (word: string) =>
      parts[0] === word || type.type === word
        ? 0
        : others.includes(word)
          ? 1
          : parts.some((part) => part.startsWith(word))
            ? 2
            : others.some((other) => other.startsWith(word))
              ? 3
              : name.includes(word)
                ? 4
                : 5
    return [{ type, rank: words.reduce((sum, word) => sum + rank(word), 0) }]
  })
  return ranked.sort((a, b) => a.rank - b.rank).map(({ type }) => type)
}
