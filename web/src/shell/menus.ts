import type { TablerIcon } from '@tabler/icons-react'
import { createContext } from 'react'

/** An entry of a menu, which leads to a page. */
export type Entry = {
  path: string
  title: string
  /** Its title outside the menu, if that differs. */
  elsewhere?: string
  /** The icon in the navigation; tabs have none. */
  icon?: TablerIcon
  /** Only the owner of the server sees it. */
  owners?: boolean
}

/** The entries of the navigation, and the tabs of the settings, in order. */
export type Menus = { navigation: Entry[]; settings: Entry[] }

/** The menus of the application. */
export const MenusContext = createContext<Menus>({ navigation: [], settings: [] })
