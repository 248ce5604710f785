import assert from 'node:assert/strict'
import { test } from 'node:test'
import { strengthOf } from './password-strength.ts'

test('rates passwords', () => {
  const cases: [string, number[]][] = [
    ['', [0]],
    ['short', [0]],
    ['aaaaaaaaaaaaaaaaaaaa', [1]],
    ['1234567890', [1]],
    ['abcdefghijkl', [1]],
    ['password123', [1]],
    ['qwertyuiop123', [1]],
    ['adalovelace1815', [1]],
    ['Admin12345', [1]],
    ['x'.repeat(1001), [0]],
    ['ada@example.org', [0]],
    ['ADA@example.org ', [0]],
    ['correct horse battery staple', [3, 4]],
    ['r8$Kq!2zPw', [3]],
    ['v7G#mQ2x!pLr9@Tz', [4]],
    ['gartenzaun', [1, 2]],
    ['lampe wolke schraube', [3, 4]],
  ]
  for (const [password, levels] of cases) {
    const got = strengthOf(password, ['ada@example.org', 'Ada Lovelace'])
    assert.ok(levels.includes(got.level), `${password.slice(0, 40)}: ${got.level} ${got.word}`)
  }
})
