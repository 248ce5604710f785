import { createTheme, type CSSVariablesResolver, type MantineColorsTuple, Tooltip } from '@mantine/core'
import { aliases, over, palettes } from './palette'
import { commonText } from './text/common'

const fonts =
  'ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", Arial, sans-serif'
const monospace = 'ui-monospace, "SF Mono", SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace'

const colors = Object.fromEntries([
  ...Object.entries(palettes),
  ...Object.entries(aliases).map(([name, of]) => [name, palettes[of]]),
]) as Record<string, MantineColorsTuple>

// The page behind a dialog does not scroll; its scroll bar stays, because the page would move otherwise.
const keepBar = { removeScrollBar: false }

/** The theme of the dashboard: dense, petrol on cool greys, system fonts. */
export const theme = createTheme({
  colors,
  primaryColor: 'petrol',
  primaryShade: { light: 7, dark: 6 },
  black: palettes.gray[9],
  fontFamily: fonts,
  fontFamilyMonospace: monospace,
  headings: {
    fontFamily: fonts,
    fontWeight: '620',
    sizes: {
      h1: { fontSize: '1.375rem', lineHeight: '1.3' },
      h2: { fontSize: '1.125rem', lineHeight: '1.35' },
      h3: { fontSize: '1rem', lineHeight: '1.4' },
      h4: { fontSize: '0.875rem', lineHeight: '1.45' },
    },
  },
  fontSizes: { xs: '0.75rem', sm: '0.875rem', md: '0.9375rem', lg: '1.0625rem', xl: '1.25rem' },
  defaultRadius: 'sm',
  radius: { xs: '3px', sm: '5px', md: '7px', lg: '10px', xl: '16px' },
  spacing: { xs: '0.5rem', sm: '0.75rem', md: '1rem', lg: '1.5rem', xl: '2rem' },
  cursorType: 'pointer',
  respectReducedMotion: true,
  focusRing: 'auto',
  components: {
    ActionIcon: { defaultProps: { variant: 'subtle', color: 'gray', size: 'lg' } },
    Alert: { defaultProps: { variant: 'light' } },
    Anchor: { defaultProps: { underline: 'hover' } },
    Badge: { defaultProps: { variant: 'light', radius: 'sm', tt: 'none', fw: 550 } },
    Button: { defaultProps: { fw: 550 } },
    Card: { defaultProps: { withBorder: true, padding: 'md', radius: 'md' } },
    CloseButton: { defaultProps: { size: 'md', 'aria-label': commonText.close } },
    // Their headers are <header> elements, which outside of an article would be banner landmarks.
    DrawerHeader: { defaultProps: { component: 'div' } },
    ModalHeader: { defaultProps: { component: 'div' } },
    Drawer: { defaultProps: { closeButtonProps: { 'aria-label': commonText.close }, removeScrollProps: keepBar } },
    // Its placeholder would be an invalid child of a menu; without it the first item gets the focus.
    Menu: { defaultProps: { shadow: 'md', withinPortal: true, withInitialFocusPlaceholder: false } },
    Modal: {
      defaultProps: {
        centered: true,
        closeButtonProps: { 'aria-label': commonText.close },
        overlayProps: { backgroundOpacity: 0.5 },
        removeScrollProps: keepBar,
      },
    },
    // Its chevron is an image without a name.
    NativeSelect: { defaultProps: { rightSectionProps: { 'aria-hidden': true } } },
    Paper: { defaultProps: { radius: 'md' } },
    // With hideDetached, a dropdown is hidden while its target is off the screen, as for a moment when a phone
    // turns. Hidden, it has no width, so its new place makes the page wider, which hides the target again.
    Popover: { defaultProps: { hideDetached: false } },
    Switch: { defaultProps: { withThumbIndicator: false } },
    Tooltip: Tooltip.extend({
      defaultProps: { openDelay: 300, events: { hover: true, focus: true, touch: false }, withArrow: true },
    }),
  },
})

/** The variables of both schemes whose Mantine defaults lack the contrast of WCAG AA (palette.test.ts checks them). */
export const cssVariables: CSSVariablesResolver = () => {
  const { gray, dark } = palettes
  const light: Record<string, string> = {
    '--mantine-color-body': '#ffffff',
    '--mantine-color-text': gray[9],
    '--mantine-color-bright': '#0b1112',
    '--mantine-color-dimmed': gray[7],
    '--mantine-color-placeholder': gray[7],
    '--mantine-color-anchor': palettes.petrol[7],
    '--mantine-color-error': palettes.red[7],
    '--mantine-color-success': palettes.green[7],
    '--mantine-color-default-border': gray[3],
    '--app-ground': gray[0],
    '--app-raised': '#ffffff',
    '--app-line': gray[2],
    '--app-control-line': gray[6],
    '--app-hover': gray[1],
  }
  const night: Record<string, string> = {
    '--mantine-color-body': dark[8],
    '--mantine-color-text': dark[0],
    '--mantine-color-bright': '#ffffff',
    '--mantine-color-dimmed': dark[2],
    '--mantine-color-placeholder': dark[2],
    '--mantine-color-anchor': palettes.petrol[3],
    '--mantine-color-error': palettes.red[3],
    '--mantine-color-success': palettes.green[3],
    '--mantine-color-default': dark[7],
    '--mantine-color-default-hover': dark[6],
    '--mantine-color-default-border': dark[5],
    '--app-ground': dark[9],
    '--app-raised': dark[8],
    '--app-line': dark[6],
    '--app-control-line': dark[3],
    '--app-hover': dark[7],
  }
  for (const [name, shades] of Object.entries(colors)) {
    if (name === 'dark') continue
    const variable = (part: string) => `--mantine-color-${name}-${part}`
    const set = (part: string, day: string, dusk: string) => {
      light[variable(part)] = day
      night[variable(part)] = dusk
    }
    const quiet = (share: number) => over(shades[5]!, dark[8], share)
    const step = name === 'gray' ? 7 : 6 // grey needs less darkening
    set('filled', shades[7]!, shades[step]!)
    set('filled-hover', shades[8]!, shades[step + 1]!)
    set('light', shades[1]!, quiet(0.2))
    set('light-hover', over(shades[2]!, shades[1]!, 0.5), quiet(0.28))
    set('light-color', shades[name === 'gray' ? 8 : 7]!, shades[2]!)
    set('outline', shades[7]!, shades[3]!)
    set('outline-hover', shades[0]!, quiet(0.12))
    set('text', shades[7]!, shades[3]!)
  }
  return { variables: { '--app-header': '52px', '--app-nav': '212px' }, light, dark: night }
}
