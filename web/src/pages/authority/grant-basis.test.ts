import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compared } from './grant-basis'

test('compares a version only with an older one', () => {
  const versions = ['1.3.0', '1.2.0', '1.1.0', '1.0.0'].map((version) => ({ version }))
  assert.deepEqual(compared(versions, '1.2.0', '1.0.0'), { after: versions[1], before: versions[3] })
  assert.deepEqual(compared(versions, '1.2.0', '1.3.0'), { after: versions[1], before: undefined })
  assert.deepEqual(compared(versions, '1.2.0', null), { after: versions[1], before: undefined })
  assert.deepEqual(compared(versions, '9.0.0', '1.0.0'), {})
  assert.deepEqual(compared(undefined, '1.0.0', null), {})
})
