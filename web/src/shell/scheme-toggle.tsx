import { ActionIcon, Menu, useMantineColorScheme } from '@mantine/core'
import { IconCheck, IconDeviceDesktop, IconMoon, IconSun } from '@tabler/icons-react'
import { schemeToggleText } from '../text/shell'

const schemes = [
  { value: 'light', title: schemeToggleText.light, icon: IconSun },
  { value: 'dark', title: schemeToggleText.dark, icon: IconMoon },
  { value: 'auto', title: schemeToggleText.system, icon: IconDeviceDesktop },
] as const

/** Chooses light, dark, or the system's scheme; stored in this browser. */
export function SchemeToggle() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const current = schemes.find(({ value }) => value === colorScheme) ?? schemes[2]
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon aria-label={schemeToggleText.colourScheme(current.title)}>
          <current.icon size={19} stroke={1.7} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {schemes.map(({ value, title, icon: Icon }) => (
          <Menu.RadioItem
            key={value}
            value={value}
            checked={value === colorScheme}
            checkIcon={<IconCheck size={16} aria-hidden />}
            rightSection={<Icon size={16} aria-hidden />}
            closeMenuOnClick
            onChange={() => setColorScheme(value)}
          >
            {title}
          </Menu.RadioItem>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
