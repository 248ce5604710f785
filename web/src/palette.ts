/**
 * The colours. All chromatic palettes have the same lightness at the same step, so that text readable in one is
 * readable in all: white on steps 6 and darker; steps 7 and darker on steps 0 and 1; steps 3 and lighter on dark
 * backgrounds. palette.test.ts checks it.
 */
export type Shades = readonly [string, string, string, string, string, string, string, string, string, string]

/** The palettes by name; step 0 is the lightest. */
export const palettes = {
  petrol: [
    '#effafb',
    '#dbf2f4',
    '#bbe4e8',
    '#8fcfd7',
    '#61b9c3',
    '#329da8',
    '#007f8a',
    '#066a72',
    '#00565e',
    '#014248',
  ],
  red: ['#fff5f4', '#fee7e4', '#ffcdc8', '#fea8a1', '#fe7c74', '#e9504d', '#c72d31', '#ac1721', '#8f0b17', '#6e0810'],
  green: ['#f0fbf2', '#def4e2', '#bfe7c8', '#96d4a6', '#6cbe84', '#44a264', '#208548', '#067038', '#015c2c', '#024620'],
  blue: ['#f3f8fe', '#e1eefe', '#c2defe', '#95c7ff', '#66adfb', '#3d8fe4', '#1a71c4', '#015eaa', '#014c8c', '#003a6c'],
  amber: ['#fff6ec', '#fbead6', '#f4d5b1', '#e9b981', '#d89b50', '#be7c1c', '#9b6200', '#815100', '#6a4203', '#513102'],
  violet: [
    '#f8f6ff',
    '#efe9fe',
    '#e1d2fe',
    '#cdb3fd',
    '#b794f1',
    '#9b74d9',
    '#7f57b9',
    '#6b45a0',
    '#573785',
    '#422967',
  ],
  gray: ['#f7fbfc', '#f1f4f5', '#e5e8e9', '#d1dbde', '#c0c9cc', '#97a0a3', '#727b7d', '#565e60', '#394143', '#1e2527'],
  dark: ['#e1e5e7', '#c7cbcc', '#a7b2b4', '#798285', '#4d5658', '#3a4345', '#2c3437', '#20282a', '#171e20', '#0f1618'],
} as const satisfies Record<string, Shades>

/** Mantine's other colour names, mapped to our palettes, so that none of them is unreadable. */
export const aliases = {
  orange: 'amber',
  yellow: 'amber',
  teal: 'green',
  lime: 'green',
  cyan: 'petrol',
  indigo: 'violet',
  grape: 'violet',
  pink: 'red',
} as const satisfies Record<string, keyof typeof palettes>

/** The WCAG 2 contrast ratio of two colours in the form #rrggbb: 1 to 21. */
export function contrast(one: string, other: string): number {
  const [high, low] = [luminance(one), luminance(other)].sort((a, b) => b - a) as [number, number]
  return (high + 0.05) / (low + 0.05)
}

/** Blends a colour over another: `share` from 0 (transparent) to 1. */
export function over(top: string, ground: string, share: number): string {
  const [a, b] = [channels(top), channels(ground)]
  return `#${a
    .map((value, index) =>
      Math.round(value * share + b[index]! * (1 - share))
        .toString(16)
        .padStart(2, '0'),
    )
    .join('')}`
}

function luminance(color: string): number {
  const [red, green, blue] = channels(color).map((value) => {
    const part = value / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function channels(color: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16))
}
