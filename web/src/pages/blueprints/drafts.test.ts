import assert from 'node:assert/strict'
import { test } from 'node:test'
import { draftIn, reviewOf, shownTags, tagOfDrafts } from './drafts.ts'

test('reads the tags of a draft', () => {
  assert.equal(draftIn(['a', 'draft-of:b1']), undefined)
  assert.deepEqual(draftIn(['agent-draft']), { of: undefined, from: undefined, proposed: false })
  assert.deepEqual(draftIn(['a', 'agent-draft', tagOfDrafts('b1'), 'draft-from:1.2.0', 'proposed']), {
    of: 'b1',
    from: '1.2.0',
    proposed: true,
  })
  assert.deepEqual(shownTags(['a', 'agent-draft', 'draft-of:b1', 'draft-from:1.2.0']), ['a', 'agent-draft'])
  assert.equal(reviewOf('b1', 'd1'), '/blueprints/b1/versions?draft=d1')
})
