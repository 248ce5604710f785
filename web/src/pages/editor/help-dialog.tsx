import { Kbd, Modal, Table } from '@mantine/core'
import classes from './help-dialog.module.css'

const apple = /Mac|iPhone|iPad/.test(navigator.userAgent)
/** How the key that commands are given with is called here. */
export const command = apple ? '⌘' : 'Ctrl'

const shortcuts: [string, string[][]][] = [
  ['Walk the nodes in the order of the flow', [['Tab'], ['Shift', 'Tab']]],
  ['Open the settings of the node', [['Enter']]],
  ['What can be done with the node', [['M']]],
  ['Choose one more node, or one less', [['Space'], ['Shift', 'Click']]],
  ['Choose all, or none', [[command, 'A'], ['Esc']]],
  ['Move what is chosen, or in larger steps', [['Arrows'], ['Shift', 'Arrows']]],
  ['Add a node', [['A']]],
  ['Connect to another node', [['C']]],
  ['Change the id', [['F2']]],
  ['Switch off or on', [['O']]],
  [
    'Copy, cut, paste',
    [
      [command, 'C'],
      [command, 'X'],
      [command, 'V'],
    ],
  ],
  ['Duplicate', [[command, 'D']]],
  ['Delete', [['Delete']]],
  [
    'Undo, redo',
    [
      [command, 'Z'],
      [command, 'Shift', 'Z'],
    ],
  ],
  ['Save', [[command, 'S']]],
  ['Run', [[command, 'Enter']]],
  ['Tidy up', [['L']]],
  ['Show everything', [['F']]],
  ['Zoom', [['+'], ['-']]],
  ['This list', [['?']]],
]

/** The list of keys. */
export function HelpDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal opened={opened} onClose={onClose} title="Keys of the editor" size="md">
      <Table aria-label="Keys of the editor" verticalSpacing={6} fz="sm">
        <Table.Tbody>
          {shortcuts.map(([what, keys]) => (
            <Table.Tr key={what}>
              <Table.Th scope="row" fw={400}>
                {what}
              </Table.Th>
              <Table.Td className={classes.keys}>
                {keys.map((combination, index) => (
                  <span key={index} className={classes.combination}>
                    {combination.map((key) => (
                      <Kbd key={key} size="xs">
                        {key}
                      </Kbd>
                    ))}
                  </span>
                ))}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Modal>
  )
}
