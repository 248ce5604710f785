/** What the tags of an agent's draft say; the server writes them. No React here. */
export type DraftOf = {
  /** The blueprint that the draft changes; undefined for a new one. */
  of?: string
  /** The version of that blueprint that the draft was made from. */
  from?: string
  proposed: boolean
}

const after = (tags: string[], prefix: string) => tags.find((tag) => tag.startsWith(prefix))?.slice(prefix.length)

/** The draft that a blueprint is; undefined for any other. */
export function draftIn(tags: string[]): DraftOf | undefined {
  if (!tags.includes('agent-draft')) return undefined
  return { of: after(tags, 'draft-of:'), from: after(tags, 'draft-from:'), proposed: tags.includes('proposed') }
}

/** The tag of all drafts that change a blueprint. */
export const tagOfDrafts = (id: string) => `draft-of:${id}`

/** The address of the page that shows what a draft changes. */
export const reviewOf = (of: string, draft: string) => `/blueprints/${of}/versions?draft=${draft}`

/** The tags that a list shows: without those that only link a draft to its blueprint. */
export const shownTags = (tags: string[]) => tags.filter((tag) => !/^draft-(of|from):/.test(tag))
