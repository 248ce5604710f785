import { Kbd, Modal, Table } from '@mantine/core'
import classes from './help-dialog.module.css'
import { helpDialogText } from '../../text/editor'
import { commonText } from '../../text/common'

const apple = /Mac|iPhone|iPad/.test(navigator.userAgent)
/** The name of the command key on this platform. */
export const command = apple ? '⌘' : helpDialogText.ctrl

const shortcuts: [string, string[][]][] = [
  [helpDialogText.nextOrPreviousNode, [['Tab'], ['Shift', 'Tab']]],
  [helpDialogText.openNodeSettings, [['Enter']]],
  [helpDialogText.backToCanvas, [['Esc']]],
  [helpDialogText.nodeActions, [['M']]],
  [helpDialogText.addToOrRemoveFromSelection, [['Space'], ['Shift', helpDialogText.click]]],
  [helpDialogText.selectAllOrNone, [[command, 'A'], ['Esc']]],
  [helpDialogText.moveSelectionOrInLargerSteps, [['Arrows'], ['Shift', 'Arrows']]],
  [helpDialogText.addANode, [['A']]],
  [helpDialogText.addANodeBefore, [['B']]],
  [helpDialogText.connectToAnotherNode, [['C']]],
  [helpDialogText.renameNode, [['F2']]],
  [helpDialogText.disableOrEnable, [['O']]],
  [
    helpDialogText.copyCutPaste,
    [
      [command, 'C'],
      [command, 'X'],
      [command, 'V'],
    ],
  ],
  [helpDialogText.duplicate, [[command, 'D']]],
  ['Delete', [['Delete']]],
  [
    helpDialogText.undoRedo,
    [
      [command, 'Z'],
      [command, 'Shift', 'Z'],
    ],
  ],
  [commonText.save, [[command, 'S']]],
  [commonText.run, [[command, 'Enter']]],
  [helpDialogText.arrangeNodes, [['L']]],
  [helpDialogText.groupNodes, [['G']]],
  [helpDialogText.addANote, [['N']]],
  [helpDialogText.fitToView, [['F']]],
  [helpDialogText.zoom, [['+'], ['-']]],
  [helpDialogText.keyboardShortcuts, [['?']]],
]

/** The list of shortcuts. */
export function HelpDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal opened={opened} onClose={onClose} title={helpDialogText.keyboardShortcuts} size="md">
      <Table aria-label={helpDialogText.keyboardShortcuts} verticalSpacing={6} fz="sm">
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
