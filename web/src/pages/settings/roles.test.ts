import assert from 'node:assert/strict'
import { test } from 'node:test'
import { givable, isLastOwner, manages, mayTouch, roleTitle } from './roles.ts'

test('keeps the last owner', () => {
  const [ada, bo] = [
    { userId: 'ada', role: 'owner' },
    { userId: 'bo', role: 'admin' },
  ]
  assert.equal(isLastOwner([ada, bo], 'ada'), true)
  assert.equal(isLastOwner([ada, bo], 'bo'), false)
  assert.equal(isLastOwner([ada, { ...bo, role: 'owner' }], 'ada'), false)
  assert.equal(isLastOwner([], 'ada'), false)
})

test('decides who may change whose role', () => {
  const cases: [string, string, boolean][] = [
    ['member', 'member', false],
    ['admin', 'member', true],
    ['admin', 'admin', false],
    ['admin', 'owner', false],
    ['owner', 'admin', true],
    ['owner', 'owner', true],
  ]
  for (const [own, other, wanted] of cases) assert.equal(mayTouch(own, other), wanted, `${own} about ${other}`)
  assert.deepEqual([manages('member'), manages('admin'), manages('owner')], [false, true, true])
  assert.deepEqual(givable('admin'), ['member'])
  assert.deepEqual(givable('nobody'), [])
  assert.equal(roleTitle('owner'), 'Owner')
  assert.equal(roleTitle('king'), 'king')
})
