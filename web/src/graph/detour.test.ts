import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Box, detour, detourPath } from './detour'

const box = (x: number, y: number): Box => ({ x, y, width: 224, height: 60 })

test('routes an edge around the cards between its ends', () => {
  const between = box(312, 0)
  const way = detour({ x: 224, y: 30 }, { x: 624, y: 30 }, [between])!
  assert.deepEqual(way, { y: -18, from: 284, to: 564 })
  assert.match(detourPath({ x: 224, y: 30 }, { x: 624, y: 30 }, way), /^M224,30 C260,30 248,-18 284,-18 L564,-18 C/)
  assert.equal(detour({ x: 224, y: 56 }, { x: 624, y: 56 }, [between])!.y, 78, 'on the nearer side')
  assert.equal(detour({ x: 224, y: 30 }, { x: 624, y: 30 }, [between], [way])!.y, 78, 'where no other goes already')
  assert.equal(detour({ x: 224, y: 20 }, { x: 624, y: 20 }, [between], [way])!.y, -28, 'or beside it')
  assert.ok(
    detour({ x: 224, y: 30 }, { x: 624, y: 30 }, [between, box(400, -66)])!.y > 60,
    'what it would meet then is in the way too',
  )
})

test('leaves an edge straight when nothing is in between', () => {
  assert.equal(detour({ x: 224, y: 30 }, { x: 624, y: 30 }, [box(312, 100), box(0, 0), box(700, 0)]), undefined)
  assert.equal(detour({ x: 624, y: 30 }, { x: 224, y: 30 }, [box(312, 0)]), undefined)
  assert.equal(detour({ x: 224, y: 30 }, { x: 312, y: 200 }, []), undefined)
})
