import assert from 'node:assert/strict'
import { test } from 'node:test'
import { actionWords, areaOf, targetHref, targetName, viaWord } from './audit-words.ts'

const entry = (action: string, detail: Record<string, unknown> = {}, targetType = '', targetId = 'a1') => ({
  action,
  targetType,
  targetId,
  detail,
})

test('describes actions', () => {
  const cases: [string, Record<string, unknown>, string][] = [
    ['blueprint.update', { title: 'Hello', changed: ['title'] }, 'changed the blueprint "Hello"'],
    ['blueprint.update', {}, 'changed a blueprint'],
    ['apiKey.revoke', {}, 'revoked an API key'],
    ['organization.create', {}, 'created an organization'],
    ['connection.delete', { name: 'Slack' }, 'deleted the connection "Slack"'],
    ['session.create', { outcome: 'failed' }, 'failed to sign in'],
    ['session.create', { outcome: 'signed in' }, 'signed in'],
    ['organization.addMember', { userName: 'Bob', role: 'admin', roleBefore: null }, 'added Bob as admin'],
    [
      'organization.addMember',
      { userName: 'Bob', role: 'owner', roleBefore: 'admin' },
      'changed the role of Bob from admin to owner',
    ],
    ['organization.removeMember', { userName: 'Bob', roleBefore: 'member' }, 'removed Bob'],
    ['organization.removeMember', { roleBefore: 'member' }, 'removed a member'],
    ['collaborator.add', { role: 'editor' }, 'added a collaborator as a collaborator (editor)'],
    ['user.update', { name: 'Ada' }, 'changed their name to "Ada"'],
    ['user.update', {}, 'changed their name'],
    ['something.new', {}, 'something.new'],
  ]
  for (const [action, detail, wanted] of cases) assert.equal(actionWords(entry(action, detail)), wanted, action)
})

test('names targets, areas and sources', () => {
  assert.equal(targetHref(entry('blueprint.update', {}, 'blueprint')), '/blueprints/a1')
  assert.equal(targetHref(entry('blueprint.delete', {}, 'blueprint')), undefined)
  assert.equal(targetHref(entry('execution.cancel', {}, 'execution')), '/runs/a1')
  assert.equal(targetHref(entry('blueprint.update', {}, 'blueprint', '../x')), undefined)
  assert.equal(targetHref(entry('blueprintTriggers.redeliver', { executionId: 'e1' }, 'firing')), '/runs/e1')
  assert.deepEqual(['blueprint.execute', 'session.create', 'x.y'].map(areaOf), ['Runs', 'Account', 'Other'])
  assert.equal(viaWord('cli'), 'Command line')
  assert.equal(viaWord('link'), 'Approval link')
})

test('names a target by its name, or by its kind and the end of its ID', () => {
  const names = new Map([['o1', 'Northwind Shop']])
  const cases: [ReturnType<typeof entry>, string][] = [
    [entry('blueprint.update', { title: 'Hello' }, 'blueprint'), 'Hello'],
    [entry('apiKey.revoke', { name: 'Old laptop' }, 'key'), 'Old laptop'],
    [entry('organization.addMember', { userName: 'Bob' }, 'organization', 'o1'), 'Northwind Shop'],
    [entry('organization.addMember', { userName: 'Bob' }, 'organization', 'o2'), 'organization o2'],
    [
      entry('blueprint.rate', { rating: 4 }, 'blueprint', 'ae927e01-47b6-4fde-9d08-de6d54f8ace5'),
      'blueprint …54f8ace5',
    ],
    [entry('execution.cancel', {}, 'execution', 'exec_1795933713082_01m8jzvcnt5kbm08vzs707s9sb'), 'run …s707s9sb'],
    [entry('clock.advance', {}, 'server', ''), 'server'],
    [entry('x.y', {}, '', ''), '–'],
  ]
  for (const [of, wanted] of cases) assert.equal(targetName(of, names), wanted)
})
