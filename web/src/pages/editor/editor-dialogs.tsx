import { ConflictDialog } from './conflict-dialog'
import { ConnectDialog } from './connect-dialog'
import { HelpDialog } from './help-dialog'
import { PasteDialog } from './paste-dialog'
import type { Expressions } from './references'
import { RenameDialog } from './rename-dialog'
import type { Commands } from './use-commands'
import type { Editor } from './use-editor'
import type { useSave } from './use-save'

type Props = { editor: Editor; commands: Commands; saver: ReturnType<typeof useSave>; expressions: Expressions }

/** The dialogs of commands, and of conflicts with changes by other users. */
export function EditorDialogs({ editor, commands, saver, expressions }: Props) {
  const { dialog, close } = commands
  return (
    <>
      <ConnectDialog
        map={editor.shown}
        id={dialog?.kind === 'connect' ? dialog.id : undefined}
        onClose={close}
        onConnect={commands.tryConnect}
      />
      <RenameDialog
        map={editor.shown}
        id={dialog?.kind === 'rename' ? dialog.id : undefined}
        wanted={dialog?.kind === 'rename' ? dialog.to : undefined}
        expressions={expressions}
        onClose={close}
        onRename={commands.renamed}
      />
      <PasteDialog opened={dialog?.kind === 'paste'} onClose={close} onPaste={commands.pasteText} />
      <HelpDialog opened={dialog?.kind === 'help'} onClose={close} />
      <ConflictDialog
        theirs={saver.conflict}
        ours={editor.doc}
        saving={saver.saving}
        onOverwrite={() => void saver.overwrite()}
        onReload={saver.reload}
        onClose={saver.dismiss}
      />
    </>
  )
}
