import { Skeleton } from '@mantine/core'
import classes from './editor.module.css'
import { useRestOfWindow } from './use-rest-of-window'
import { editorSkeletonText } from '../../text/editor'

/** What stands in the place of the editor, as large as it, until what it needs is there. */
export function EditorSkeleton() {
  const frame = useRestOfWindow()
  return (
    <div className={classes.editor} ref={frame}>
      <Skeleton
        className={classes.waiting}
        height="100%"
        radius={0}
        role="img"
        aria-label={editorSkeletonText.loadingTheEditor}
      />
    </div>
  )
}
