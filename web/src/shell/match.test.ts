import assert from 'node:assert/strict'
import { test } from 'node:test'
import { matches } from './match'

test('matches paths segment by segment', () => {
  const cases: [string, string, boolean][] = [
    ['/runs', '/runs', true],
    ['/runs', '/runs/', true],
    ['/runs', '/runs/1', false],
    ['/runs/:id', '/runs', false],
    ['/runs/:id', '/runs/exec_1', true],
    ['/blueprints/:id/:tab?', '/blueprints/1', true],
    ['/blueprints/:id/:tab?', '/blueprints/1/runs', true],
    ['/blueprints/:id/:tab?', '/blueprints/1/runs/2', false],
    ['/', '/', true],
    ['/', '/runs', false],
  ]
  for (const [pattern, path, fits] of cases) assert.equal(matches(pattern, path), fits, `${pattern} ${path}`)
})
