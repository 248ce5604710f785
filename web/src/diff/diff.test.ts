import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeWords } from './change-words'
import { contentVersions, type Content, differOnlyInLayout, diffVersions, fieldChanges, graphDiff } from './diff'

const node = (id: string, config: object = {}, more: object = {}) => ({
  id,
  type: 'log',
  title: id.toUpperCase(),
  config,
  ...more,
})
const version = (nodes: object[], edges: object[] = [], variables: unknown[] = []): Content => ({
  blueprint_map: { nodes, edges },
  environment_variables: variables,
})

const cases: [name: string, before: Content, after: Content, words: string[]][] = [
  ['nothing', version([node('a')]), version([node('a')]), ['Changed title, status, tags or sharing only']],
  [
    'moved alone',
    version([node('a')]),
    version([node('a', {}, { position: { x: 1, y: 2 } })]),
    ['Moved nodes on the canvas'],
  ],
  [
    'a field',
    version([node('a', { url: '1', on: true })]),
    version([node('a', { url: '2', on: true })]),
    ['Changed “A”: url'],
  ],
  ['several nodes', version([node('a')]), version([node('a'), node('b'), node('c')]), ['Added 2 nodes: “B”, “C”']],
  ['removed', version([node('a'), node('b')]), version([node('b')]), ['Removed “A”']],
  [
    'edges drawn',
    version([node('a'), node('b')]),
    version([node('a'), node('b')], [{ source: 'a', target: 'b' }]),
    ['Connected the nodes with edges'],
  ],
  [
    'edges changed',
    version([node('a'), node('b'), node('c')], [{ source: 'a', target: 'b' }]),
    version(
      [node('a'), node('b'), node('c')],
      [
        { source: 'a', target: 'c' },
        { source: 'b', target: 'c', sourceHandle: 'error' },
      ],
    ),
    ['Edges: 2 added, 1 removed'],
  ],
  ['order', version([node('a'), node('b')]), version([node('b'), node('a')]), ['Changed the node order']],
  [
    'variables',
    version([], [], [{ name: 'KEY', default: 'x' }]),
    version([], [], [{ name: 'KEY', default: 'y' }, { name: 'NEW' }]),
    ['Added variable “NEW”', 'Changed variable “KEY”: default'],
  ],
  [
    'default handle written out',
    version([node('a'), node('b')], [{ source: 'a', target: 'b' }]),
    version([node('a'), node('b')], [{ source: 'a', target: 'b', sourceHandle: 'main' }]),
    ['Edges: 1 changed'],
  ],
]

for (const [name, before, after, words] of cases) {
  test(`describes a change: ${name}`, () => assert.deepEqual(changeWords(diffVersions(before, after)), words))
}

test('compares fields as deep as both sides go', () => {
  const changes = fieldChanges(
    { config: { list: [1, 2], deep: { a: 1 }, gone: 1 } },
    { config: { list: [1, 3], deep: { a: 1 }, come: null } },
  )
  assert.deepEqual(changes, [
    { path: ['config', 'list', 1], before: 2, after: 3 },
    { path: ['config', 'gone'], before: 1, after: undefined },
    { path: ['config', 'come'], before: undefined, after: null },
  ])
  assert.deepEqual(fieldChanges([1], [1, 2]), [{ path: [], before: [1], after: [1, 2] }])
})

test('treats names such as constructor as plain keys', () => {
  const hostile = JSON.parse('{"__proto__": 1, "constructor": 2}') as object
  assert.equal(fieldChanges({}, hostile).length, 2)
  const { marks } = graphDiff(
    { nodes: [node('constructor')] },
    { nodes: [node('constructor')] },
    diffVersions(version([node('constructor')]), version([node('constructor')])),
  )
  assert.equal(marks.nodes.get('constructor'), undefined)
})

test('shows removed nodes in the graph', () => {
  const [before, after] = [
    version([node('a'), node('b')], [{ source: 'a', target: 'b' }]),
    version([node('a'), node('c')], [{ source: 'a', target: 'c' }]),
  ]
  const { map, marks } = graphDiff(before.blueprint_map, after.blueprint_map, diffVersions(before, after))
  assert.deepEqual(
    map.nodes.map(({ id }) => id),
    ['a', 'c', 'b'],
  )
  assert.equal(map.edges?.length, 2)
  assert.deepEqual(Object.fromEntries(marks.nodes), { c: 'added', b: 'removed' })
})

test('lists only versions with changed content', () => {
  const made = (version: string, x: number, text: string) => ({
    version,
    blueprint_map: { nodes: [{ id: 'a', type: 'template', title: 'A', config: { text }, position: { x, y: 0 } }] },
    environment_variables: [],
  })
  const versions = [
    made('1.3.0', 9, 'b'),
    made('1.2.1', 5, 'b'),
    made('1.2.0', 5, 'b'),
    made('1.1.0', 5, 'a'),
    made('1.0.0', 0, 'a'),
  ]
  assert.deepEqual(
    contentVersions(versions).map(({ version, until }) => [version, until]),
    [
      ['1.2.0', '1.3.0'],
      ['1.0.0', '1.1.0'],
    ],
  )
  assert.deepEqual(contentVersions([]), [])
})

test('tells a change of the layout from other changes', () => {
  const before = version([node('a')])
  const noted = (more: object): Content => ({ ...before, blueprint_map: { nodes: [node('a')], edges: [], ...more } })
  assert.ok(differOnlyInLayout(before, version([node('a', {}, { position: { x: 1, y: 2 } })])))
  assert.ok(
    differOnlyInLayout(before, noted({ notes: [{ id: 'n', text: 'why' }], groups: [{ id: 'g', nodes: ['a'] }] })),
  )
  assert.ok(!differOnlyInLayout(before, noted({ viewport: 1 })))
  assert.ok(!differOnlyInLayout(before, version([node('a', { url: '1' })])))
})
