import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contrast, over, palettes, type Shades } from './palette'

const { dark, gray } = palettes
const AA = 4.5

test('texts have enough contrast in both colour schemes', () => {
  const pairs: [string, string, string][] = [
    ['text', gray[9], gray[0]],
    ['dimmed', gray[7], gray[0]],
    ['dimmed, hovered', gray[7], gray[1]],
    ['dimmed on a grey badge', gray[7], gray[2]],
    ['dark text', dark[0], dark[7]],
    ['dark dimmed', dark[2], dark[9]],
    ['dark dimmed, hovered', dark[2], dark[6]],
  ]
  for (const [name, shades] of Object.entries(palettes) as [string, Shades][]) {
    if (name === 'dark') continue
    const grey = name === 'gray'
    pairs.push(
      [`${name} filled`, '#ffffff', shades[7]],
      [`${name} filled, dark`, '#ffffff', shades[grey ? 7 : 6]],
      [`${name} light`, shades[grey ? 8 : 7], shades[1]],
      [`${name} light, hovered`, shades[grey ? 8 : 7], over(shades[2], shades[1], 0.5)],
      [`${name} light, dark`, shades[2], over(shades[5], dark[8], 0.2)],
      [`${name} light, dark, hovered`, shades[2], over(shades[5], dark[8], 0.28)],
      [`${name} text`, shades[7], gray[1]],
      [`${name} text, dark`, shades[3], dark[7]],
    )
  }
  for (const [name, ink, ground] of pairs)
    assert.ok(contrast(ink, ground) >= AA, `${name}: ${contrast(ink, ground).toFixed(2)}`)
})

test('borders of controls have enough contrast', () => {
  assert.ok(contrast(gray[6], '#ffffff') >= 3)
  assert.ok(contrast(dark[3], dark[8]) >= 3)
})

test('computes contrast and mixing as WCAG and CSS define them', () => {
  assert.equal(contrast('#000000', '#ffffff'), 21)
  assert.equal(over('#ff0000', '#000000', 0.5), '#800000')
})
